use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ImageDecoder, ImageResult, Limits};

use super::NotAPhoto;
use super::flatten::flatten;
use super::limits::{MAX_MEMORY, MAX_METADATA, Size};
use super::picture::Picture;
use crate::photos::ImageType;

/// The decoded parts of an image.
pub(super) struct Decoded {
    /// The first picture, as it is stored.
    pub(super) picture: Picture,
    /// The transformation that makes the picture upright.
    pub(super) orientation: Orientation,
    /// The ICC profile of its colours.
    pub(super) profile: Option<Vec<u8>>,
}

/// Decodes the first picture of an image if it fits the limits. `working` is the memory in bytes that its decoder takes in
/// addition to the picture.
///
/// # Errors
///
/// [`NotAPhoto::TooManyPixels`], [`NotAPhoto::TooLong`] and [`NotAPhoto::TooMuchMemory`], according to its header;
/// [`NotAPhoto::Undecodable`].
pub(super) fn decode(
    kind: ImageType,
    image: &[u8],
    working: u64,
    max_side: u32,
) -> Result<Decoded, NotAPhoto> {
    let mut decoder = open(kind, image).map_err(NotAPhoto::undecodable)?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let decoded = decoder.total_bytes();
    Size { width, height, decoded, working }.check(max_side)?;
    // Errors in these two are not worth refusing a picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or(None);
    let mut samples = vec![0; usize::try_from(decoded).map_err(NotAPhoto::undecodable)?];
    decoder.read_image_boxed(&mut samples).map_err(NotAPhoto::undecodable)?;
    let layout = flatten(&mut samples, color).map_err(NotAPhoto::undecodable)?;
    Ok(Decoded { picture: Picture { width, height, layout, samples }, orientation, profile })
}

/// Opens a decoder, which reads the header.
fn open<'a>(kind: ImageType, image: &'a [u8]) -> ImageResult<Box<dyn ImageDecoder + 'a>> {
    let input = Cursor::new(image);
    let mut limits = Limits::no_limits();
    Ok(match kind {
        ImageType::Jpeg => Box::new(JpegDecoder::new(input)?),
        ImageType::Png => {
            limits.max_alloc = Some(MAX_METADATA);
            Box::new(PngDecoder::with_limits(input, limits)?)
        }
        ImageType::Webp => Box::new(WebPDecoder::new(input)?),
        ImageType::Gif => {
            let mut decoder = GifDecoder::new(input)?;
            limits.max_alloc = Some(MAX_MEMORY);
            decoder.set_limits(limits)?;
            Box::new(decoder)
        }
    })
}
