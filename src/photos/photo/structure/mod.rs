//! Finds where an image ends and how much memory its decoder takes, from the structure of the file.

mod gif;
mod jpeg;
mod png;
mod webp;

use super::NotAPhoto;
use crate::photos::ImageType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStructure {
    pub(super) end: usize,
    /// The decoder's memory in bytes, without the decoded picture.
    pub(super) decoder_memory: u64,
}

/// Scans a file once, without decoding. Fails if it is truncated or its structure is invalid.
pub(super) fn scan(kind: ImageType, file: &[u8]) -> Result<FileStructure, NotAPhoto> {
    match kind {
        ImageType::Jpeg => jpeg::parse(file),
        ImageType::Png => png::parse(file),
        ImageType::Webp => webp::parse(file),
        ImageType::Gif => gif::parse(file),
    }
}

pub(super) fn bytes<const N: usize>(file: &[u8], position: usize) -> Result<[u8; N], NotAPhoto> {
    file.get(position..).and_then(<[u8]>::first_chunk).copied().ok_or(NotAPhoto::CutOff)
}
