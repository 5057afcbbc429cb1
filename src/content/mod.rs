//! What an answer consists of: its bytes, a tag that names them, and shorter forms of them.

mod accepted;
mod coding;

use std::cmp::Reverse;
use std::sync::OnceLock;

use bytes::Bytes;

pub use self::accepted::Accepted;
pub(crate) use self::accepted::thousandths;
pub use self::coding::Coding;

/// The bytes of an answer, shared by all who read them, and their shorter forms once these are made.
#[derive(Debug)]
pub struct Content {
    bytes: Bytes,
    tag: OnceLock<String>,
    coded: OnceLock<Vec<(Coding, Bytes)>>,
}

/// A form of a [`Content`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    /// How its bytes are coded.
    pub coding: Coding,
    /// Its bytes.
    pub bytes: &'a Bytes,
}

impl Content {
    /// What is shorter is sent as it is: the header of a coded answer would eat what is gained.
    const WORTHWHILE: usize = 1024;

    /// The content of these bytes, which are not copied.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), tag: OnceLock::new(), coded: OnceLock::new() }
    }

    /// The same for bytes that are kept: takes little more memory than they need, and has its tag at once, which costs a
    /// look at every byte.
    #[must_use]
    pub fn tagged(mut bytes: Vec<u8>) -> Self {
        // What is nearly full is not worth a copy.
        if bytes.capacity() > bytes.len() / 8 * 9 {
            bytes.shrink_to_fit();
        }
        let content = Self::new(bytes);
        content.tag();
        content
    }

    /// Makes the shorter forms. Takes some 70 milliseconds of a core for each megabyte, and about as much memory again;
    /// a form that saves less than a tenth is not kept, nor one with which all would be more bytes than there is `room`.
    pub fn code(&self, room: usize) {
        self.coded.get_or_init(|| {
            if self.bytes.len() < Self::WORTHWHILE {
                return Vec::new();
            }
            let mut left = room.saturating_sub(self.bytes.len());
            let coded = Coding::SHORTER.into_iter().filter_map(|coding| {
                // Writing to memory does not fail; a form that could not be made is one that is not there.
                let bytes = coding.encode(&self.bytes).ok()?;
                if bytes.len() >= self.bytes.len() / 10 * 9 {
                    return None;
                }
                left = left.checked_sub(bytes.len())?;
                Some((coding, Bytes::from(bytes)))
            });
            coded.collect()
        });
    }

    /// The form to send to a client: of those there are the one it prefers, of equals the shortest.
    #[must_use]
    pub fn form(&self, accepted: Accepted) -> Form<'_> {
        let identity = Form { coding: Coding::Identity, bytes: &self.bytes };
        let coded = self.coded.get().into_iter().flatten();
        let forms = coded.map(|(coding, bytes)| Form { coding: *coding, bytes }).chain([identity]);
        let acceptable = forms.filter(|form| accepted.weight(form.coding) > 0);
        // A client that accepts none of those gets the bytes as they are (RFC 9110 §12.5.3).
        acceptable
            .min_by_key(|form| (Reverse(accepted.weight(form.coding)), form.bytes.len()))
            .unwrap_or(identity)
    }

    /// The strong entity tag of a form (RFC 9110 §8.8.3): equal for equal bytes in the same coding only. Other versions of
    /// the service may code the same bytes otherwise; nobody can join such pieces, for no ranges are served.
    ///
    /// Hashes the bytes when asked first.
    #[must_use]
    pub fn entity_tag(&self, coding: Coding) -> String {
        let tag = self.tag();
        match coding {
            Coding::Identity => format!("\"{tag}\""),
            coding => format!("\"{tag}-{}\"", coding.name()),
        }
    }

    /// The form that a client says by an entity tag that it has, if it is one of this content that the client accepts.
    ///
    /// It need not have been made here: another server has made it of the same bytes.
    #[must_use]
    pub fn named_by(&self, entity_tag: &str, accepted: Accepted) -> Option<Coding> {
        let named = entity_tag.strip_prefix('"')?.strip_suffix('"')?.strip_prefix(self.tag())?;
        let coding = match named.strip_prefix('-') {
            Some(name) => Coding::SHORTER.into_iter().find(|coding| coding.name() == name)?,
            None if named.is_empty() => Coding::Identity,
            None => return None,
        };
        (accepted.weight(coding) > 0).then_some(coding)
    }

    /// How many bytes there are in all forms.
    #[must_use]
    pub fn size(&self) -> usize {
        let coded = self.coded.get().into_iter().flatten();
        self.bytes.len() + coded.map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    fn tag(&self) -> &str {
        // A third of the time SHA-256 takes, which is more than writing a map takes. Nobody can make two answers of one
        // tag, as with a checksum: reports hold what anybody sends.
        self.tag.get_or_init(|| hex::encode(&blake3::hash(&self.bytes).as_bytes()[..16]))
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::{SecureRandom, SystemRandom};

    use super::*;

    fn content() -> Content {
        let content = Content::new(b"banjir ".repeat(1000));
        content.code(usize::MAX);
        content
    }

    fn chosen(content: &Content, accept: &str) -> Coding {
        content.form(Accepted::new([accept])).coding
    }

    #[test]
    fn the_form_a_client_prefers_is_chosen_and_of_equals_the_shortest() {
        let content = content();
        let size = |coding: &Coding| coding.encode(&content.bytes).unwrap().len();
        let shortest = Coding::SHORTER.into_iter().min_by_key(size).unwrap();
        assert_eq!(chosen(&content, "gzip, deflate, br, zstd"), shortest);
        assert_eq!(chosen(&content, "gzip, br;q=0.9"), Coding::Gzip);
        assert_eq!(chosen(&content, "gzip;q=0.5, identity;q=0.6"), Coding::Identity);
        assert_eq!(chosen(&content, "deflate"), Coding::Identity);
        assert_eq!(chosen(&content, "identity;q=0, deflate"), Coding::Identity);
    }

    #[test]
    fn the_bytes_are_sent_as_they_are_until_others_are_made_and_where_these_are_not_shorter() {
        let uncoded = Content::new(b"banjir ".repeat(1000));
        assert_eq!(chosen(&uncoded, "gzip"), Coding::Identity);
        let mut random = vec![0; 5000];
        SystemRandom::new().fill(&mut random).unwrap();
        for bytes in [b"short".to_vec(), random] {
            let content = Content::new(bytes);
            content.code(usize::MAX);
            assert_eq!(chosen(&content, "gzip, br, zstd"), Coding::Identity);
            assert_eq!(content.size(), content.bytes.len());
        }
    }

    #[test]
    fn forms_for_which_there_is_no_room_are_not_kept() {
        let content = Content::new(b"banjir ".repeat(1000));
        content.code(content.bytes.len());
        assert_eq!(
            (chosen(&content, "gzip, br, zstd"), content.size()),
            (Coding::Identity, content.bytes.len())
        );
    }

    #[test]
    fn every_form_has_a_tag_of_its_own_by_which_it_is_found_again() {
        let content = content();
        let everything = Accepted::new(["gzip, br, zstd"]);
        let tags = Coding::ALL.map(|coding| content.entity_tag(coding));
        for (coding, tag) in Coding::ALL.iter().zip(&tags) {
            assert_eq!(content.named_by(tag, everything), Some(*coding));
            assert_eq!(tags.iter().filter(|other| *other == tag).count(), 1);
        }
        assert_eq!(content.named_by(&tags[1], Accepted::new(["gzip"])), None);
        for other in ["", "\"\"", "\"-gzip\"", "x", &tags[0][..20], &format!("{}-", tags[0])] {
            assert_eq!(content.named_by(other, everything), None, "{other}");
        }
    }
}
