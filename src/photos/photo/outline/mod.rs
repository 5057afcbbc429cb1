//! Finds where an image ends and how much memory its decoder takes, from the structure of the file.

mod gif;
mod jpeg;
mod png;
mod webp;

use super::NotAPhoto;
use crate::photos::ImageType;

/// The end of an image, and the memory to decode it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    /// The position at which the image ends.
    pub(super) end: usize,
    /// How many bytes the decoder takes in addition to the decoded picture.
    pub(super) working: u64,
}

/// Returns the outline of a file of this type. Reads the file once, and decodes nothing.
///
/// # Errors
///
/// [`NotAPhoto::CutOff`] if the file ends before the image, [`NotAPhoto::Undecodable`] if its structure is invalid for the
/// type, [`NotAPhoto::TooManyScans`].
pub(super) fn scan(kind: ImageType, file: &[u8]) -> Result<Outline, NotAPhoto> {
    match kind {
        ImageType::Jpeg => jpeg::outline(file),
        ImageType::Png => png::outline(file),
        ImageType::Webp => webp::outline(file),
        ImageType::Gif => gif::outline(file),
    }
}

/// Returns the `N` bytes at `position`.
///
/// # Errors
///
/// [`NotAPhoto::CutOff`] if there are fewer.
pub(super) fn bytes<const N: usize>(file: &[u8], position: usize) -> Result<[u8; N], NotAPhoto> {
    file.get(position..).and_then(<[u8]>::first_chunk).copied().ok_or(NotAPhoto::CutOff)
}
