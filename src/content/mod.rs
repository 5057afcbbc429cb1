//! The content of a response: its bytes, a tag that identifies them, and compressed forms of them.

mod accepted;
mod coding;
mod fast;
mod kept;

use std::cmp::Reverse;
use std::sync::OnceLock;

use bytes::Bytes;

pub use self::accepted::Accepted;
pub(crate) use self::accepted::thousandths;
pub(crate) use self::coding::{Coding, Level};
use self::fast::{Compressing, FastForms};
pub(crate) use self::kept::{Between, Holds, Kept};

/// The ending of the tag of a form at the fast level, after the name of the coding.
const FAST: &str = "-fast";

/// The bytes of a response, shared by all readers, and their compressed forms once these are made.
#[derive(Debug)]
pub struct Content {
    bytes: Bytes,
    tag: OnceLock<String>,
    /// The forms at the best level. Once they are made, none is made at the fast level.
    coded: OnceLock<Vec<(Coding, Bytes)>>,
    fast: FastForms,
}

/// A form of a [`Content`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// How its bytes are coded.
    pub(crate) coding: Coding,
    /// The level at which they were compressed; [`Level::Best`] if they are uncompressed.
    pub(crate) level: Level,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

impl Content {
    /// A body that is shorter than this is sent uncompressed: the additional header would take up the bytes saved.
    const WORTHWHILE: usize = 1024;

    /// Makes the content of these bytes, which are not copied.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), tag: OnceLock::new(), coded: OnceLock::new(), fast: FastForms::default() }
    }

    /// Makes the content of bytes that will be cached: releases spare memory, and computes the tag at once, which reads every
    /// byte.
    #[must_use]
    pub fn tagged(mut bytes: Vec<u8>) -> Self {
        // If the buffer is nearly full, shrinking it is not worth a copy.
        if bytes.capacity() > bytes.len() / 8 * 9 {
            bytes.shrink_to_fit();
        }
        let content = Self::new(bytes);
        content.tag();
        content
    }

    /// Compresses the content at the best level in every coding, and drops the forms at the fast level. This takes about 45 ms
    /// of a core per megabyte, and about as much memory again. A form is dropped if it saves less than a tenth, or if all forms
    /// together would take more than `room` bytes with it.
    pub fn code(&self, room: usize) {
        self.coded.get_or_init(|| {
            if self.bytes.len() < Self::WORTHWHILE {
                return Vec::new();
            }
            let mut left = room.saturating_sub(self.bytes.len());
            let coded = Coding::SHORTER.into_iter().filter_map(|coding| {
                let bytes = self.encoded(coding, Level::Best)?;
                left = left.checked_sub(bytes.len())?;
                Some((coding, bytes))
            });
            coded.collect()
        });
        self.fast.clear();
    }

    /// Returns the coding in which this content must be compressed at the fast level for a client; `None` if the client need
    /// not wait.
    #[must_use]
    pub(crate) fn lacks(&self, accepted: Accepted) -> Option<Coding> {
        if self.coded.get().is_some() || self.bytes.len() < Self::WORTHWHILE {
            return None;
        }
        let most = Coding::SHORTER.into_iter().map(|coding| accepted.weight(coding)).max()?;
        if most == 0 || most < accepted.weight(Coding::Identity) {
            return None;
        }
        self.fast.lacking(Coding::FASTEST.into_iter().filter(|&coding| accepted.weight(coding) == most))
    }

    /// Returns the form in a coding at the fast level. The first request for it must have it [`compressed`](Self::compressed).
    pub(crate) fn compress(&self, coding: Coding) -> Compressing {
        self.fast.join(coding)
    }

    /// Compresses the bytes in a coding at the fast level; returns `None` if that would save less than a tenth.
    pub(crate) fn compressed(&self, coding: Coding) -> Option<Bytes> {
        self.encoded(coding, Level::Fast)
    }

    fn encoded(&self, coding: Coding, level: Level) -> Option<Bytes> {
        // Writing to memory does not fail; if it did, the form would just be missing.
        let bytes = coding.encode(level, &self.bytes).ok()?;
        (bytes.len() < self.bytes.len() / 10 * 9).then(|| bytes.into())
    }

    /// Returns the form to send to a client: of those that are ready, the one it prefers; among equals, the shortest.
    #[must_use]
    pub(crate) fn form(&self, accepted: Accepted) -> Form {
        let identity = || (Coding::Identity, &self.bytes);
        // Read only once, because forms of one level must not be mixed with those of the other.
        let (best, fast) = match self.coded.get() {
            Some(best) => (&**best, Vec::new()),
            None => (&[][..], self.fast.there()),
        };
        let level = if fast.is_empty() { Level::Best } else { Level::Fast };
        let coded = best.iter().chain(&fast).map(|(coding, bytes)| (*coding, bytes));
        let acceptable = coded.chain([identity()]).filter(|(coding, _)| accepted.weight(*coding) > 0);
        // A client that accepts none of these gets the bytes uncompressed (RFC 9110 §12.5.3).
        let (coding, bytes) = acceptable
            .min_by_key(|(coding, bytes)| (Reverse(accepted.weight(*coding)), bytes.len()))
            .unwrap_or_else(identity);
        let level = if coding == Coding::Identity { Level::Best } else { level };
        Form { coding, level, bytes: bytes.clone() }
    }

    /// Returns the strong entity tag of a form (RFC 9110 §8.8.3). Tags are equal only for equal bytes in the same coding at the
    /// same level. Another version of the service may compress the same bytes differently under the same tag; this does no
    /// harm, because the service serves no ranges, so that no client can join parts of different forms.
    ///
    /// The first call hashes the bytes.
    #[must_use]
    pub(crate) fn entity_tag(&self, coding: Coding, level: Level) -> String {
        let tag = self.tag();
        match (coding, level) {
            (Coding::Identity, _) => format!("\"{tag}\""),
            (coding, Level::Fast) => format!("\"{tag}-{}{FAST}\"", coding.name()),
            (coding, Level::Best) => format!("\"{tag}-{}\"", coding.name()),
        }
    }

    /// Returns the form that an entity tag from a client identifies, if it is a form of this content that the client accepts.
    ///
    /// The form need not exist, or may have been dropped: any form of the same bytes is equally current.
    #[must_use]
    pub(crate) fn named_by(&self, entity_tag: &str, accepted: Accepted) -> Option<(Coding, Level)> {
        let named = entity_tag.strip_prefix('"')?.strip_suffix('"')?.strip_prefix(self.tag())?;
        let (coding, level) = match named.strip_prefix('-') {
            Some(name) => {
                let (name, level) =
                    name.strip_suffix(FAST).map_or((name, Level::Best), |name| (name, Level::Fast));
                (Coding::SHORTER.into_iter().find(|coding| coding.name() == name)?, level)
            }
            None if named.is_empty() => (Coding::Identity, Level::Best),
            None => return None,
        };
        (accepted.weight(coding) > 0).then_some((coding, level))
    }

    /// Returns how many bytes all forms take.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        let fast = self.fast.there();
        let coded = self.coded.get().into_iter().flatten().chain(&fast);
        self.bytes.len() + coded.map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    pub(crate) fn tag(&self) -> &str {
        // BLAKE3 takes a third of the time of SHA-256, which takes longer than writing a map does. With a simple checksum,
        // anyone could craft two bodies with the same tag, because reports contain text from anyone; with BLAKE3, no one can.
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
        let size = |coding: &Coding| coding.encode(Level::Best, &content.bytes).unwrap().len();
        let shortest = Coding::SHORTER.into_iter().min_by_key(size).unwrap();
        assert_eq!(chosen(&content, "gzip, deflate, br, zstd"), shortest);
        assert_eq!(chosen(&content, "gzip, br;q=0.9"), Coding::Gzip);
        assert_eq!(chosen(&content, "gzip;q=0.5, identity;q=0.6"), Coding::Identity);
    }

    #[test]
    fn the_bytes_are_sent_as_they_are_until_others_are_made_and_where_these_are_not_shorter_or_have_no_room()
    {
        let uncoded = Content::new(b"banjir ".repeat(1000));
        assert_eq!(chosen(&uncoded, "gzip"), Coding::Identity);
        let mut random = vec![0; 5000];
        SystemRandom::new().fill(&mut random).unwrap();
        let long = b"banjir ".repeat(1000);
        let no_room = long.len();
        for (bytes, room) in [(b"short".to_vec(), usize::MAX), (random, usize::MAX), (long, no_room)] {
            let content = Content::new(bytes);
            content.code(room);
            assert_eq!(chosen(&content, "gzip, br, zstd"), Coding::Identity);
            assert_eq!(content.size(), content.bytes.len());
        }
    }

    #[test]
    fn every_form_has_a_tag_of_its_own_by_which_it_is_found_again() {
        let content = content();
        let everything = Accepted::new(["gzip, br, zstd"]);
        let forms = Coding::SHORTER.map(|coding| [(coding, Level::Best), (coding, Level::Fast)]);
        let forms = [&[(Coding::Identity, Level::Best)], forms.as_flattened()].concat();
        let tags: Vec<_> = forms.iter().map(|&(coding, level)| content.entity_tag(coding, level)).collect();
        for (form, tag) in forms.iter().zip(&tags) {
            assert_eq!(content.named_by(tag, everything), Some(*form));
            assert_eq!(tags.iter().filter(|other| *other == tag).count(), 1);
        }
        assert_eq!(content.named_by(&tags[1], Accepted::new(["gzip"])), None);
        let strange = [tags[0].replacen('"', "", 1), tags[1].replace("-br", "-br-faster")];
        for other in ["", "\"-gzip\"", &tags[0][..20], &strange[0], &strange[1]] {
            assert_eq!(content.named_by(other, everything), None, "{other}");
        }
    }

    /// Compresses the content at the fast level as a client needs it.
    fn compress(content: &Content, accept: &str) -> Option<Coding> {
        let coding = content.lacks(Accepted::new([accept]))?;
        let compressing = content.compress(coding);
        if compressing.is_first() {
            compressing.finish(content.compressed(coding));
        }
        Some(coding)
    }

    #[test]
    fn a_client_lacks_the_fastest_of_the_codings_it_prefers_unless_another_has_one_of_them_already() {
        for (accept, expected) in [
            ("gzip", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("gzip, zstd;q=0.9", Some(Coding::Gzip)),
            ("gzip, identity", Some(Coding::Gzip)),
            ("deflate", None),
        ] {
            let content = Content::new(b"banjir ".repeat(1000));
            assert_eq!(compress(&content, accept), expected, "{accept}");
            assert_eq!(chosen(&content, accept), expected.unwrap_or(Coding::Identity), "{accept}");
        }
        let content = Content::new(b"banjir ".repeat(1000));
        let under_way = content.compress(Coding::Gzip);
        assert_eq!(compress(&content, "gzip, br, zstd"), Some(Coding::Gzip));
        under_way.finish(content.compressed(Coding::Gzip));
        assert_eq!(compress(&content, "gzip, br, zstd"), None);
        assert_eq!(compress(&content, "br"), Some(Coding::Brotli));
        assert_eq!(Content::new(b"banjir ".repeat(100)).lacks(Accepted::new(["gzip"])), None, "it is short");
    }

    #[test]
    fn forms_at_the_fast_level_count_and_give_way_to_those_at_the_best() {
        let content = Content::new(b"banjir ".repeat(1000));
        compress(&content, "gzip");
        let fast = content.form(Accepted::new(["gzip"]));
        assert_eq!((fast.coding, fast.level), (Coding::Gzip, Level::Fast));
        assert_eq!(content.form(Accepted::new(["br"])).level, Level::Best, "it is sent as it is");
        assert_eq!(content.size(), content.bytes.len() + fast.bytes.len());
        content.code(usize::MAX);
        let best = content.form(Accepted::new(["gzip"]));
        assert_eq!((best.coding, best.level), (Coding::Gzip, Level::Best));
        let coded = Coding::SHORTER.map(|coding| content.form(Accepted::new([coding.name()])).bytes.len());
        assert_eq!(content.size(), content.bytes.len() + coded.iter().sum::<usize>());
        assert_eq!(content.lacks(Accepted::new(["gzip"])), None);
    }
}
