//! Converts an uploaded file into a publishable photo, or rejects it.
//!
//! The published photo is encoded from the decoded pixels alone: neither metadata nor trailing bytes of the file can reach it.

mod colours;
mod decode;
mod flatten;
mod limits;
mod not_a_photo;
mod picture;
mod structure;

pub use self::limits::{MAX_PIXELS, MAX_SCANS};
pub use self::not_a_photo::NotAPhoto;

use super::ImageType;

/// A JPEG without metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// The file.
    pub jpeg: Vec<u8>,
    /// The width of the picture, in pixels.
    pub width: u32,
    /// The height of the picture, in pixels.
    pub height: u32,
}

/// Makes a photo from the first picture of a file: upright, in sRGB, over a white background. It is shrunk until no side is
/// longer than `max_side` pixels, but never enlarged. All metadata, thumbnails and trailing bytes are dropped.
///
/// Besides the file, needs 20 MiB for profiles and tables, and at most `MAX_MEMORY` bytes. The latter is checked before decoding.
///
/// The time is bounded by the number of pixels, at most [`MAX_PIXELS`], times [`MAX_SCANS`] for JPEGs, and by the length of the
/// file, which is read several times. The function cannot be interrupted. A decoder may panic: the caller must catch the panic
/// and reject the file.
///
/// # Errors
///
/// [`NotAPhoto`], with the reason.
pub fn prepare(file: &[u8], max_side: u32) -> Result<Photo, NotAPhoto> {
    if file.is_empty() {
        return Err(NotAPhoto::Empty);
    }
    let kind = ImageType::detect(file).ok_or(NotAPhoto::OtherType)?;
    let structure = structure::scan(kind, file)?;
    let decoded = decode::decode(kind, &file[..structure.end], structure.decoder_memory, max_side)?;
    let mut picture = decoded.picture.shrink(max_side)?;
    if let Some(profile) = decoded.profile {
        colours::to_srgb(&mut picture, &profile);
    }
    picture.orient(decoded.orientation)?.encode()
}
