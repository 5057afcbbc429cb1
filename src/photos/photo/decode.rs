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

pub(super) struct DecodedImage {
    /// The first picture, before orientation.
    pub(super) picture: Picture,
    pub(super) orientation: Orientation,
    pub(super) profile: Option<Vec<u8>>,
}

/// Decodes the first picture if its header is within the limits. `working` is the decoder's memory in bytes, without the picture.
pub(super) fn decode(
    kind: ImageType,
    image: &[u8],
    working: u64,
    max_side: u32,
) -> Result<DecodedImage, NotAPhoto> {
    let mut decoder = open(kind, image).map_err(NotAPhoto::undecodable)?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let decoded = decoder.total_bytes();
    Size { width, height, decoded, working }.check(max_side)?;
    // Broken metadata is not a reason to refuse a picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or(None);
    let mut samples = vec![0; usize::try_from(decoded).map_err(NotAPhoto::undecodable)?];
    decoder.read_image_boxed(&mut samples).map_err(NotAPhoto::undecodable)?;
    let layout = flatten(&mut samples, color).map_err(NotAPhoto::undecodable)?;
    Ok(DecodedImage { picture: Picture { width, height, layout, samples }, orientation, profile })
}

/// Opens the decoder for the type. PNG and GIF get memory limits in addition to `Size`, which limits the memory of all types.
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
