//! Turns a file somebody uploaded into a photo that can be published, or refuses it.
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

pub use self::limits::{MAX_MEMORY, MAX_PIXELS, MAX_SCANS, MAX_SIDE};
pub use self::not_a_photo::NotAPhoto;

use super::ImageType;

/// A JPEG that shows a picture and says nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// The file.
    pub jpeg: Vec<u8>,
    /// How wide the picture is, in pixels.
    pub width: u32,
    /// How high the picture is, in pixels.
    pub height: u32,
}

/// Makes a photo of a file: upright, in sRGB, over white where it was transparent, its first picture when it has many,
/// shrunk until no side is longer than `max_side` pixels and never enlarged. Nothing of the file but the picture
/// survives: no EXIF, GPS, XMP, comments, profile or thumbnail, and nothing that follows the image.
///
/// Takes at most [`MAX_MEMORY`] bytes beside the file, which the header is asked for before anything is decoded, and 20
/// MiB for profiles and tables.
///
/// The time is bounded by the pixels, [`MAX_PIXELS`], times [`MAX_SCANS`] for JPEGs, and by the length of the file, which is
/// read several times. Pictures after the first are not decoded. There is no way to interrupt it. The decoders
/// are other people's code: a panic of theirs is a refusal too, and the caller's to catch.
///
/// # Errors
///
/// [`NotAPhoto`], which says why.
pub fn prepare(file: &[u8], max_side: u32) -> Result<Photo, NotAPhoto> {
    if file.is_empty() {
        return Err(NotAPhoto::Empty);
    }
    let kind = ImageType::of(file).ok_or(NotAPhoto::OtherType)?;
    let outline = outline::of(kind, file)?;
    let decoded = decode::decode(kind, &file[..outline.end], outline.working, max_side)?;
    let mut picture = decoded.picture.shrunk(max_side)?;
    if let Some(profile) = decoded.profile {
        colours::to_srgb(&mut picture, &profile);
    }
    picture.turned(decoded.orientation)?.encoded()
}
