//! The names of uploads and images in the storage and in addresses.

use percent_encoding::percent_decode_str;

pub(super) use crate::model::photo_name as published;
use crate::model::{CardId, PHOTO, Upload, card_part};

fn decode_card(part: &str) -> Option<CardId> {
    let text = part.replace('=', "%");
    let card = percent_decode_str(&text).decode_utf8().ok()?.parse().ok()?;
    (card_part(&card) == part).then_some(card)
}

/// Returns the card of a published image.
pub(super) fn published_card(name: &str) -> Option<CardId> {
    name.strip_suffix(PHOTO).and_then(decode_card)
}

/// Returns the name of an upload that the storage receives itself. All uploads of a card have the same name.
pub(super) fn presigned(card: &CardId) -> String {
    card_part(card)
}

/// Returns the name of an upload that this service receives. `end`: a random suffix in the storage, an extension in an address.
pub(super) fn upload(upload: &Upload, end: &str) -> String {
    format!("{}.{}.{end}", card_part(&upload.card), upload.turn)
}

/// Splits a name into the upload and the ending. `None` if the name is malformed, for example if the turn has a leading zero.
pub(super) fn parse_upload(name: &str) -> Option<(Upload, &str)> {
    let (card, rest) = name.split_once('.')?;
    let (turn, end) = rest.split_once('.')?;
    let canonical = turn == "0" || !turn.starts_with(['0', '+']);
    let turn = turn.parse().ok().filter(|_| canonical)?;
    Some((Upload { card: decode_card(card)?, turn }, end))
}

/// Returns the card of a photo or an upload in a folder.
pub(crate) fn card_of_file(name: &str) -> Option<CardId> {
    published_card(name).or_else(|| parse_upload(name).map(|(upload, _)| upload.card))
}

pub(super) fn presigned_card(name: &str) -> Option<CardId> {
    decode_card(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::is_photo_name;

    fn card(id: &str) -> CardId {
        id.parse().unwrap()
    }

    #[test]
    fn a_name_encodes_any_identifier_of_a_card() {
        for (id, name) in [
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
            assert_eq!(parse_upload(&upload(&turn, "end")), Some((turn, "end")));
        }
    }

    #[test]
    fn other_names_do_not_decode() {
        for name in ["", "abc.jpg", "=61bcdefg.jpg", "abcdefg/h.jpg", "=00abcdefg.jpg"] {
            assert_eq!(published_card(name), None, "{name}");
        }
        for name in ["", "abcdefg", "abcdefg.00.x", "abcdefg.+1.x", "abcdefg.4294967296.x", "a/../bcdefg.0.x"]
        {
            assert_eq!(parse_upload(name), None, "{name}");
        }
    }
}
