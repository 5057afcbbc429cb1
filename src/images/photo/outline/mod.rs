//! Where an image ends, by its own account of its parts, and where in it the compressed picture is.

mod gif;
mod jpeg;
mod png;
mod webp;

pub(super) use self::jpeg::outline as of_jpeg;

use std::ops::Range;

use super::NotAPhoto;
use crate::images::ImageType;

/// The parts of a file that holds an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// Where the image ends.
    pub(super) end: usize,
    /// The compressed pictures, in which any bytes can stand, in the order of the file.
    pub(super) pictures: Vec<Range<usize>>,
    /// How many bytes the decoder takes besides the decoded picture.
    pub(super) working: u64,
}

impl Outline {
    /// Adds a compressed picture. Those with at most the head of a chunk between them become one, so that a file of
    /// tiny chunks makes no long list.
    pub(super) fn add_picture(&mut self, picture: Range<usize>) {
        const HEAD: usize = 12;
        match self.pictures.last_mut() {
            Some(last) if picture.start <= last.end + HEAD => last.end = picture.end,
            _ => self.pictures.push(picture),
        }
    }
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
