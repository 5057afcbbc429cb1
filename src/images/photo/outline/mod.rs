//! Where an image ends and how much memory its decoder takes, by the parts the file says it has.

mod gif;
mod jpeg;
mod png;
mod webp;

use super::NotAPhoto;
use crate::images::ImageType;

/// What the parts of an image say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    /// Where the image ends.
    pub(super) end: usize,
    /// How many bytes the decoder takes besides the decoded picture.
    pub(super) working: u64,
}

/// The outline of a file of this type. Reads the file once, and decodes nothing.
///
/// # Errors
///
/// [`NotAPhoto::CutOff`] when the file ends before the image, [`NotAPhoto::Undecodable`] when its parts are not as the type
/// has them, [`NotAPhoto::TooManyScans`].
pub(super) fn of(kind: ImageType, file: &[u8]) -> Result<Outline, NotAPhoto> {
    match kind {
        ImageType::Jpeg => jpeg::outline(file),
        ImageType::Png => png::outline(file),
        ImageType::Webp => webp::outline(file),
        ImageType::Gif => gif::outline(file),
    }
}

/// The `N` bytes at `position`.
///
/// # Errors
///
/// [`NotAPhoto::CutOff`] when there are fewer.
pub(super) fn bytes<const N: usize>(file: &[u8], position: usize) -> Result<[u8; N], NotAPhoto> {
    file.get(position..).and_then(<[u8]>::first_chunk).copied().ok_or(NotAPhoto::CutOff)
}
