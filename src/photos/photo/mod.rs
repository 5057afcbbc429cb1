//! Converts an uploaded file into a photo that can be published, or refuses it.
//!
//! ```text
//! file -> type, by its first bytes -> outline: where the image ends and what decoding it takes
//!      -> limits, by the header -> decode -> shrink -> sRGB -> upright -> JPEG
//! ```
//!
//! The published photo is encoded from the decoded pixels alone, so nothing else in the file matters: neither its metadata nor
//! what follows the image.

mod colours;
mod decode;
mod flatten;
mod limits;
mod not_a_photo;
mod outline;
mod picture;

pub use self::limits::{MAX_PIXELS, MAX_SCANS};
pub use self::not_a_photo::NotAPhoto;

use super::ImageType;

/// A JPEG that contains only a picture, without metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// The file.
    pub jpeg: Vec<u8>,
    /// The width of the picture, in pixels.
    pub width: u32,
    /// The height of the picture, in pixels.
    pub height: u32,
}

/// Makes a photo from a file: upright, in sRGB, with a white background where it was transparent; from the first picture if
/// there are several. It is shrunk until no side is longer than `max_side` pixels, but never enlarged. Only the picture
/// remains: no EXIF, GPS, XMP, comments, profile or thumbnail, and nothing that follows the image in the file.
///
/// In addition to the file, takes at most `MAX_MEMORY` bytes, which is checked by the header before anything is decoded, and
/// 20 MiB for profiles and tables.
///
/// The time is bounded by the number of pixels, at most [`MAX_PIXELS`], times [`MAX_SCANS`] for JPEGs, and by the length of the
/// file, which is read several times. Pictures after the first are not decoded. It cannot be interrupted. If a decoder panics,
/// the caller must catch that and treat it as a refusal.
///
/// # Errors
///
/// [`NotAPhoto`], with the reason.
pub fn prepare(file: &[u8], max_side: u32) -> Result<Photo, NotAPhoto> {
    if file.is_empty() {
        return Err(NotAPhoto::Empty);
    }
    let kind = ImageType::detect(file).ok_or(NotAPhoto::OtherType)?;
    let outline = outline::scan(kind, file)?;
    let decoded = decode::decode(kind, &file[..outline.end], outline.working, max_side)?;
    let mut picture = decoded.picture.shrunk(max_side)?;
    if let Some(profile) = decoded.profile {
        colours::to_srgb(&mut picture, &profile);
    }
    picture.turned(decoded.orientation)?.encoded()
}
