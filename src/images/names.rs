//! The names that uploads and images have in the storage and in addresses.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::model::{CardId, PHOTO, Upload};

/// Everything but what identifiers of cards are made of here.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// A card in a name: its identifier, in which any byte but letters, digits, `-` and `_` is `=` and two hexadecimal digits.
///
/// A data set can bring cards with any identifier; none leads to another folder or stands for another card.
fn card_part(card: &CardId) -> String {
    utf8_percent_encode(card.as_str(), ESCAPED).to_string().replace('%', "=")
}

fn card_of(part: &str) -> Option<CardId> {
    let text = part.replace('=', "%");
    let card = percent_decode_str(&text).decode_utf8().ok()?.parse().ok()?;
    // One card has one name.
    (card_part(&card) == part).then_some(card)
}

/// The name of the published image of a card.
pub(super) fn published(card: &CardId) -> String {
    card_part(card) + PHOTO
}

/// The card whose published image has this name.
pub(super) fn published_card(name: &str) -> Option<CardId> {
    name.strip_suffix(PHOTO).and_then(card_of)
}

/// The name of an upload, of which there is one in a storage that takes uploads itself, and nothing else is known.
pub(super) fn presigned(card: &CardId) -> String {
    card_part(card)
}

/// The name of an upload, with something at its end that makes it another.
pub(super) fn upload(upload: &Upload, end: &str) -> String {
    format!("{}.{}.{end}", card_part(&upload.card), upload.turn)
}

/// What [`upload`] made a name of.
pub(super) fn upload_of(name: &str) -> Option<(Upload, &str)> {
    let (card, rest) = name.split_once('.')?;
    let (turn, end) = rest.split_once('.')?;
    let canonical = turn == "0" || !turn.starts_with(['0', '+']);
    let turn = turn.parse().ok().filter(|_| canonical)?;
    Some((Upload { card: card_of(card)?, turn }, end))
}

/// What [`presigned`] made a name of.
pub(super) fn presigned_card(name: &str) -> Option<CardId> {
    card_of(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::is_photo_name;

    fn card(id: &str) -> CardId {
        id.parse().unwrap()
    }

    #[test]
    fn a_name_says_which_card_it_is_of_whatever_its_identifier() {
        for (id, name) in [
            ("abcdefg", "abcdefg"),
            ("a-b_C01d", "a-b_C01d"),
            ("../../etc", "=2E=2E=2F=2E=2E=2Fetc"),
            ("a.1.jpeg", "a=2E1=2Ejpeg"),
            ("kartu é%2F", "kartu=20=C3=A9=252F"),
            ("=2E=2E=2F", "=3D2E=3D2E=3D2F"),
        ] {
            let card = card(id);
            assert_eq!(presigned(&card), name);
            assert_eq!(published(&card), format!("{name}.jpg"));
            assert!(is_photo_name(&published(&card)), "reports show it as a photo");
            assert_eq!(published_card(&published(&card)), Some(card.clone()));
            assert_eq!(presigned_card(&presigned(&card)), Some(card.clone()));
            let turn = Upload { card, turn: 7 };
            assert_eq!(upload_of(&upload(&turn, "end")), Some((turn, "end")));
        }
    }

    #[test]
    fn no_other_name_is_of_a_card() {
        for name in [
            "",
            ".jpg",
            "abc.jpg",
            "abcdefg.png",
            "abcdefg=",
            "..=2F..=2Fetc.jpg",
            "=61bcdefg.jpg",
            "=c3=a9abcdefg.jpg",
            "%61bcdefg.jpg",
            "abcdefg/h.jpg",
            "abcdefg.jpg.jpg",
            "=00abcdefg.jpg",
        ] {
            assert_eq!(published_card(name), None, "{name}");
        }
        for name in [
            "",
            "abcdefg",
            "abcdefg.0",
            "abcdefg.00.x",
            "abcdefg.+1.x",
            "abcdefg.-1.x",
            "abcdefg.4294967296.x",
            "abc.0.x",
            "a/../bcdefg.0.x",
        ] {
            assert_eq!(upload_of(name), None, "{name}");
        }
    }
}
