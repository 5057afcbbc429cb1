//! The content of a response: its bytes, a tag that identifies them, and compressed forms of them.

mod accepted_encodings;
mod cache_control;
mod compressed;
mod content_encoding;

use std::cmp::Reverse;
use std::sync::OnceLock;

use bytes::Bytes;

pub use self::accepted_encodings::AcceptedEncodings;
pub(crate) use self::accepted_encodings::thousandths;
pub(crate) use self::cache_control::{CacheControl, CacheTopology, ContentClass};
use self::compressed::Compressed;
pub(crate) use self::content_encoding::ContentEncoding;
use self::content_encoding::{QUICK, THOROUGH};

/// The bytes of a response, shared by all readers, and their compressed forms once these are made.
#[derive(Debug)]
pub struct Content {
    bytes: Bytes,
    tag: OnceLock<String>,
    /// The forms in the codings of [`ContentEncoding::SHORTER`].
    forms: [Compressed; ContentEncoding::SHORTER.len()],
}

/// A form of a [`Content`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// How its bytes are coded.
    pub(crate) coding: ContentEncoding,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

impl Content {
    /// A body that is shorter than this is sent uncompressed: the additional header would take up the bytes saved.
    const WORTHWHILE: usize = 1024;

    /// Makes the content of these bytes, which are not copied.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), tag: OnceLock::new(), forms: Default::default() }
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

    /// Compresses a content that stays the same in every coding, to few bytes. This takes about a tenth of a second of a core per
    /// megabyte.
    pub fn compress_all(&self) {
        for coding in ContentEncoding::SHORTER {
            self.finish(coding, self.encoded(coding, THOROUGH));
        }
    }

    /// Returns the coding in which this content must be compressed for a client: the one that it prefers, among equals the one with
    /// fewer bytes. `None` if the client need not wait.
    #[must_use]
    pub(crate) fn lacks(&self, accepted: AcceptedEncodings) -> Option<ContentEncoding> {
        if self.bytes.len() < Self::WORTHWHILE {
            return None;
        }
        let preferred =
            ContentEncoding::SHORTER.into_iter().min_by_key(|&coding| Reverse(accepted.weight(coding)))?;
        let most = accepted.weight(preferred);
        let is_preferred = most > 0 && most >= accepted.weight(ContentEncoding::Identity);
        (is_preferred && !self.in_coding(preferred)?.is_finished()).then_some(preferred)
    }

    /// Returns whether this is the first request for the form in a coding: it must have it [`compressed`](Self::compressed) and
    /// [finish](Self::finish) it, while the others wait.
    pub(crate) fn begin(&self, coding: ContentEncoding) -> bool {
        self.in_coding(coding).is_some_and(Compressed::begin)
    }

    /// Compresses the bytes in a coding for a request that waits; returns `None` if that would save less than a tenth, or if they are
    /// few. This takes about 7 (Brotli) or 5 ms (gzip) of a core per megabyte.
    pub(crate) fn compressed(&self, coding: ContentEncoding) -> Option<Bytes> {
        self.encoded(coding, QUICK)
    }

    fn encoded(&self, coding: ContentEncoding, level: u32) -> Option<Bytes> {
        if self.bytes.len() < Self::WORTHWHILE {
            return None;
        }
        // Writing to memory does not fail; if it did, the form would just be missing.
        let bytes = coding.encode(&self.bytes, level).ok()?;
        (bytes.len() < self.bytes.len() / 10 * 9).then(|| bytes.into())
    }

    /// Gives the form in a coding to all requests that wait; `None` if the bytes are sent uncompressed.
    pub(crate) fn finish(&self, coding: ContentEncoding, bytes: Option<Bytes>) {
        if let Some(form) = self.in_coding(coding) {
            form.finish(bytes);
        }
    }

    /// Waits until the form in a coding is finished.
    pub(crate) async fn finished(&self, coding: ContentEncoding) {
        if let Some(form) = self.in_coding(coding) {
            form.finished().await;
        }
    }

    /// Returns the form to send to a client: of those that are ready, the one it prefers; among equals, the shortest.
    #[must_use]
    pub(crate) fn form(&self, accepted: AcceptedEncodings) -> Form {
        let identity = || (ContentEncoding::Identity, &self.bytes);
        let acceptable = self.made().chain([identity()]).filter(|(coding, _)| accepted.weight(*coding) > 0);
        // A client that accepts none of these gets the bytes uncompressed (RFC 9110 §12.5.3).
        let (coding, bytes) = acceptable
            .min_by_key(|(coding, bytes)| (Reverse(accepted.weight(*coding)), bytes.len()))
            .unwrap_or_else(identity);
        Form { coding, bytes: bytes.clone() }
    }

    /// Returns the strong entity tag of a form (RFC 9110 §8.8.3). Tags are equal only for equal bytes in the same coding. Another
    /// version of the service may compress the same bytes differently under the same tag; this does no harm, because the service
    /// serves no ranges, so that no client can join parts of different forms.
    ///
    /// The first call hashes the bytes.
    #[must_use]
    pub(crate) fn entity_tag(&self, coding: ContentEncoding) -> String {
        let tag = self.tag();
        match coding {
            ContentEncoding::Identity => format!("\"{tag}\""),
            coding => format!("\"{tag}-{}\"", coding.name()),
        }
    }

    /// Returns the coding of the form that an entity tag from a client identifies, if it is a form of this content that the client
    /// accepts.
    ///
    /// The form need not exist: any form of the same bytes is equally current.
    #[must_use]
    pub(crate) fn named_by(&self, entity_tag: &str, accepted: AcceptedEncodings) -> Option<ContentEncoding> {
        let named = entity_tag.strip_prefix('"')?.strip_suffix('"')?.strip_prefix(self.tag())?;
        let coding = match named.strip_prefix('-') {
            Some(name) => ContentEncoding::SHORTER.into_iter().find(|coding| coding.name() == name)?,
            None if named.is_empty() => ContentEncoding::Identity,
            None => return None,
        };
        (accepted.weight(coding) > 0).then_some(coding)
    }

    /// Returns how many bytes all forms take.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.made().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// Returns the forms that are made and worth sending.
    fn made(&self) -> impl Iterator<Item = (ContentEncoding, &Bytes)> {
        ContentEncoding::SHORTER
            .into_iter()
            .zip(&self.forms)
            .filter_map(|(coding, form)| Some((coding, form.bytes()?)))
    }

    /// Returns the form in a coding that compresses.
    fn in_coding(&self, coding: ContentEncoding) -> Option<&Compressed> {
        ContentEncoding::SHORTER
            .iter()
            .zip(&self.forms)
            .find_map(|(of, form)| (*of == coding).then_some(form))
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
        Content::new(b"banjir ".repeat(1000))
    }

    fn chosen(content: &Content, accept: &str) -> ContentEncoding {
        content.form(AcceptedEncodings::new([accept])).coding
    }

    #[test]
    fn the_form_a_client_prefers_is_chosen_and_of_equals_the_shortest() {
        let content = content();
        assert_eq!(chosen(&content, "gzip"), ContentEncoding::Identity, "nothing is compressed yet");
        content.compress_all();
        let sizes =
            ContentEncoding::SHORTER.map(|coding| coding.encode(&content.bytes, THOROUGH).unwrap().len());
        assert_eq!(content.size(), content.bytes.len() + sizes.iter().sum::<usize>());
        assert!(sizes[0] < sizes[1]);
        assert_eq!(chosen(&content, "gzip, deflate, br, zstd"), ContentEncoding::Brotli);
        assert_eq!(chosen(&content, "gzip, br;q=0.9"), ContentEncoding::Gzip);
        assert_eq!(chosen(&content, "gzip;q=0.5, identity;q=0.6"), ContentEncoding::Identity);
    }

    #[test]
    fn bytes_that_compression_makes_hardly_shorter_are_sent_as_they_are() {
        let mut random = vec![0; 5000];
        SystemRandom::new().fill(&mut random).unwrap();
        for bytes in [b"short".to_vec(), random] {
            let content = Content::new(bytes);
            content.compress_all();
            assert_eq!(chosen(&content, "gzip, br"), ContentEncoding::Identity);
            assert_eq!(content.lacks(AcceptedEncodings::new(["gzip, br"])), None);
            assert_eq!(content.size(), content.bytes.len());
        }
        assert_eq!(Content::new(b"short".to_vec()).lacks(AcceptedEncodings::new(["gzip"])), None);
    }

    #[test]
    fn every_form_has_a_tag_of_its_own_by_which_it_is_found_again() {
        let (content, everything) = (content(), AcceptedEncodings::new(["gzip, br"]));
        let tags = ContentEncoding::ALL.map(|coding| content.entity_tag(coding));
        for (coding, tag) in ContentEncoding::ALL.iter().zip(&tags) {
            assert_eq!(content.named_by(tag, everything), Some(*coding));
            assert_eq!(tags.iter().filter(|other| *other == tag).count(), 1);
        }
        assert_eq!(content.named_by(&tags[1], AcceptedEncodings::new(["gzip"])), None);
        let strange = [tags[0].replacen('"', "", 1), tags[1].replace("-br", "-br-fast")];
        for other in ["", "\"-gzip\"", &tags[0][..20], &strange[0], &strange[1]] {
            assert_eq!(content.named_by(other, everything), None, "{other}");
        }
    }

    #[test]
    fn a_client_lacks_the_coding_that_it_prefers_until_that_is_made() {
        for (accept, expected) in [
            ("gzip", Some(ContentEncoding::Gzip)),
            ("gzip, deflate, br, zstd", Some(ContentEncoding::Brotli)),
            ("gzip, br;q=0.9", Some(ContentEncoding::Gzip)),
            ("gzip, identity", Some(ContentEncoding::Gzip)),
            ("gzip;q=0.5, identity;q=0.6", None),
            ("zstd", None),
        ] {
            let (content, accepted) = (content(), AcceptedEncodings::new([accept]));
            assert_eq!(content.lacks(accepted), expected, "{accept}");
            if let Some(coding) = expected {
                assert!(content.begin(coding) && !content.begin(coding), "{accept}: one makes it");
                assert_eq!(content.lacks(accepted), expected, "{accept}");
                content.finish(coding, content.compressed(coding));
                assert_eq!(content.lacks(accepted), None, "{accept}");
            }
            assert_eq!(chosen(&content, accept), expected.unwrap_or(ContentEncoding::Identity), "{accept}");
        }
    }
}
