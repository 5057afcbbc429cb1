//! Response bodies: bytes, entity tag and compressed representations.

mod accepted_encodings;
mod cache_control;
mod content_encoding;
mod lazy_encoding;

use std::cmp::Reverse;
use std::sync::OnceLock;

use bytes::Bytes;

pub use self::accepted_encodings::AcceptedEncodings;
pub(crate) use self::accepted_encodings::thousandths;
pub(crate) use self::cache_control::{CacheControl, CacheTopology, ContentClass};
pub(crate) use self::content_encoding::ContentEncoding;
use self::content_encoding::{BEST_LEVEL, FAST_LEVEL};
use self::lazy_encoding::LazyEncoding;

/// The body of a response, shared by all requests, with its compressed representations.
#[derive(Debug)]
pub struct Content {
    bytes: Bytes,
    tag: OnceLock<String>,
    /// In the order of [`ContentEncoding::COMPRESSING`].
    encodings: [LazyEncoding; ContentEncoding::COMPRESSING.len()],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Representation {
    pub(crate) encoding: ContentEncoding,
    pub(crate) bytes: Bytes,
}

impl Content {
    /// Shorter bodies are sent uncompressed: the additional header would outweigh the saved bytes.
    const MIN_COMPRESSED_SIZE: usize = 1024;

    /// Creates a content without copying the bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), tag: OnceLock::new(), encodings: Default::default() }
    }

    /// Creates a content for the cache: releases spare memory, and hashes all bytes immediately to compute the entity tag.
    #[must_use]
    pub fn with_tag(mut bytes: Vec<u8>) -> Self {
        // Shrinking a nearly full buffer is not worth a copy.
        if bytes.capacity() > bytes.len() / 8 * 9 {
            bytes.shrink_to_fit();
        }
        let content = Self::new(bytes);
        content.tag();
        content
    }

    /// Compresses content that never changes in every coding at the highest level. Costs about 0.1 s of a core per megabyte.
    pub fn compress_all(&self) {
        for coding in ContentEncoding::COMPRESSING {
            self.finish_encoding(coding, self.encode(coding, BEST_LEVEL));
        }
    }

    /// Returns the compressing coding that the client prefers, if its result is not ready yet. The client prefers the highest
    /// weight; of equal weights, the coding with the smaller result wins. `None` if the response can be sent without waiting.
    #[must_use]
    pub(crate) fn missing_encoding(&self, accepted: AcceptedEncodings) -> Option<ContentEncoding> {
        if self.bytes.len() < Self::MIN_COMPRESSED_SIZE {
            return None;
        }
        let preferred = ContentEncoding::COMPRESSING
            .into_iter()
            .min_by_key(|&coding| Reverse(accepted.weight(coding)))?;
        let max_weight = accepted.weight(preferred);
        let is_preferred = max_weight > 0 && max_weight >= accepted.weight(ContentEncoding::Identity);
        (is_preferred && !self.lazy_encoding(preferred)?.is_finished()).then_some(preferred)
    }

    /// Returns `true` to the first request for a coding. That request must [`compress`](Self::compress) the content and call
    /// [`finish_encoding`](Self::finish_encoding), while the others wait.
    pub(crate) fn start_encoding(&self, coding: ContentEncoding) -> bool {
        self.lazy_encoding(coding).is_some_and(LazyEncoding::start)
    }

    /// Compresses the bytes while a request waits; `None` if the content is short or compression saves less than a tenth. Costs
    /// about 7 ms (Brotli) or 5 ms (gzip) of a core per megabyte.
    pub(crate) fn compress(&self, coding: ContentEncoding) -> Option<Bytes> {
        self.encode(coding, FAST_LEVEL)
    }

    fn encode(&self, coding: ContentEncoding, level: u32) -> Option<Bytes> {
        if self.bytes.len() < Self::MIN_COMPRESSED_SIZE {
            return None;
        }
        // Writing to memory does not fail. If it did, the bytes would be sent uncompressed.
        let bytes = coding.encode(&self.bytes, level).ok()?;
        (bytes.len() < self.bytes.len() / 10 * 9).then(|| bytes.into())
    }

    pub(crate) fn finish_encoding(&self, coding: ContentEncoding, bytes: Option<Bytes>) {
        if let Some(encoding) = self.lazy_encoding(coding) {
            encoding.finish(bytes);
        }
    }

    pub(crate) async fn wait_for_encoding(&self, coding: ContentEncoding) {
        if let Some(encoding) = self.lazy_encoding(coding) {
            encoding.wait().await;
        }
    }

    /// Returns the finished representation with the highest weight; if several are equal, the smallest.
    #[must_use]
    pub(crate) fn representation(&self, accepted: AcceptedEncodings) -> Representation {
        let identity = || (ContentEncoding::Identity, &self.bytes);
        let acceptable =
            self.finished_encodings().chain([identity()]).filter(|(coding, _)| accepted.weight(*coding) > 0);
        // A client that accepts no coding gets the bytes uncompressed (RFC 9110 §12.5.3).
        let (coding, bytes) = acceptable
            .min_by_key(|(coding, bytes)| (Reverse(accepted.weight(*coding)), bytes.len()))
            .unwrap_or_else(identity);
        Representation { encoding: coding, bytes: bytes.clone() }
    }

    /// Returns the strong entity tag of a representation (RFC 9110 §8.8.3). Tags are equal only for equal bytes in the same
    /// coding. Another version of the service may compress the same bytes differently under the same tag. This is harmless,
    /// because the service ignores range requests, so clients never join parts of two representations.
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

    /// Returns the coding of an entity tag from a client, if the tag is one of this content and the client accepts that coding.
    /// The representation need not be finished: all representations of the same bytes are equally current.
    #[must_use]
    pub(crate) fn match_tag(&self, entity_tag: &str, accepted: AcceptedEncodings) -> Option<ContentEncoding> {
        let suffix = entity_tag.strip_prefix('"')?.strip_suffix('"')?.strip_prefix(self.tag())?;
        let coding = match suffix.strip_prefix('-') {
            Some(name) => ContentEncoding::COMPRESSING.into_iter().find(|coding| coding.name() == name)?,
            None if suffix.is_empty() => ContentEncoding::Identity,
            None => return None,
        };
        (accepted.weight(coding) > 0).then_some(coding)
    }

    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.finished_encodings().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    fn finished_encodings(&self) -> impl Iterator<Item = (ContentEncoding, &Bytes)> {
        ContentEncoding::COMPRESSING
            .into_iter()
            .zip(&self.encodings)
            .filter_map(|(coding, encoding)| Some((coding, encoding.bytes()?)))
    }

    fn lazy_encoding(&self, coding: ContentEncoding) -> Option<&LazyEncoding> {
        ContentEncoding::COMPRESSING
            .iter()
            .zip(&self.encodings)
            .find_map(|(other, encoding)| (*other == coding).then_some(encoding))
    }

    pub(crate) fn tag(&self) -> &str {
        // Use a cryptographic hash: anyone can send reports, and could craft two bodies with the same simple checksum. BLAKE3
        // takes a third of the time of SHA-256. SHA-256 would take longer than writing a map.
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
        content.representation(AcceptedEncodings::new([accept])).encoding
    }

    #[test]
    fn the_preferred_coding_is_chosen_and_among_equals_the_smallest() {
        let content = content();
        assert_eq!(chosen(&content, "gzip"), ContentEncoding::Identity, "nothing is compressed yet");
        content.compress_all();
        let sizes = ContentEncoding::COMPRESSING
            .map(|coding| coding.encode(&content.bytes, BEST_LEVEL).unwrap().len());
        assert_eq!(content.size(), content.bytes.len() + sizes.iter().sum::<usize>());
        assert!(sizes[0] < sizes[1]);
        assert_eq!(chosen(&content, "gzip, deflate, br, zstd"), ContentEncoding::Brotli);
        assert_eq!(chosen(&content, "gzip, br;q=0.9"), ContentEncoding::Gzip);
        assert_eq!(chosen(&content, "gzip;q=0.5, identity;q=0.6"), ContentEncoding::Identity);
    }

    #[test]
    fn incompressible_bytes_are_sent_uncompressed() {
        let mut random = vec![0; 5000];
        SystemRandom::new().fill(&mut random).unwrap();
        for bytes in [b"short".to_vec(), random] {
            let content = Content::new(bytes);
            content.compress_all();
            assert_eq!(chosen(&content, "gzip, br"), ContentEncoding::Identity);
            assert_eq!(content.missing_encoding(AcceptedEncodings::new(["gzip, br"])), None);
            assert_eq!(content.size(), content.bytes.len());
        }
        assert_eq!(Content::new(b"short".to_vec()).missing_encoding(AcceptedEncodings::new(["gzip"])), None);
    }

    #[test]
    fn every_coding_has_its_own_entity_tag() {
        let (content, all) = (content(), AcceptedEncodings::new(["gzip, br"]));
        let tags = ContentEncoding::ALL.map(|coding| content.entity_tag(coding));
        for (coding, tag) in ContentEncoding::ALL.iter().zip(&tags) {
            assert_eq!(content.match_tag(tag, all), Some(*coding));
            assert_eq!(tags.iter().filter(|other| *other == tag).count(), 1);
        }
        assert_eq!(content.match_tag(&tags[1], AcceptedEncodings::new(["gzip"])), None);
        let strange = [tags[0].replacen('"', "", 1), tags[1].replace("-br", "-br-fast")];
        for other in ["", "\"-gzip\"", &tags[0][..20], &strange[0], &strange[1]] {
            assert_eq!(content.match_tag(other, all), None, "{other}");
        }
    }

    #[test]
    fn the_preferred_coding_is_missing_until_it_is_finished() {
        for (accept, expected) in [
            ("gzip", Some(ContentEncoding::Gzip)),
            ("gzip, deflate, br, zstd", Some(ContentEncoding::Brotli)),
            ("gzip, br;q=0.9", Some(ContentEncoding::Gzip)),
            ("gzip, identity", Some(ContentEncoding::Gzip)),
            ("gzip;q=0.5, identity;q=0.6", None),
            ("zstd", None),
        ] {
            let (content, accepted) = (content(), AcceptedEncodings::new([accept]));
            assert_eq!(content.missing_encoding(accepted), expected, "{accept}");
            if let Some(coding) = expected {
                assert!(
                    content.start_encoding(coding) && !content.start_encoding(coding),
                    "{accept}: only the first call"
                );
                assert_eq!(content.missing_encoding(accepted), expected, "{accept}");
                content.finish_encoding(coding, content.compress(coding));
                assert_eq!(content.missing_encoding(accepted), None, "{accept}");
            }
            assert_eq!(chosen(&content, accept), expected.unwrap_or(ContentEncoding::Identity), "{accept}");
        }
    }
}
