//! Files of every type, and ways to look at photos.

mod jpeg;
mod png;
mod webp;

use image::codecs::gif::GifEncoder;
use image::{Frame, ImageFormat, Rgb, RgbImage, RgbaImage};
use siaga::internals::{self, Photo};

pub(crate) use self::jpeg::{Tiff, exif, exif_segment, jpeg, progressive, segment, with_segments};
pub(crate) use self::png::{chunk, png, png_of, with_chunk};
pub(crate) use self::webp::{animated_webp, lossless_webp, lossy_webp, riff, vp8, webp_with_exif};

/// A picture with distinct pixels.
pub(crate) fn colourful(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let shade = |value: u32, size: u32| (value * 255 / size.max(2)) as u8;
        Rgb([shade(x, width), shade(y, height), shade(x * 7 + y * 13, 20 * (width + height))])
    })
}

/// A picture with red, green, blue and white quarters, row by row.
pub(crate) fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| match (x < width / 2, y < height / 2) {
        (true, true) => Rgb([255, 0, 0]),
        (false, true) => Rgb([0, 255, 0]),
        (true, false) => Rgb([0, 0, 255]),
        (false, false) => Rgb([255, 255, 255]),
    })
}

pub(crate) fn gif(frames: &[RgbaImage]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = GifEncoder::new(&mut file);
    encoder.encode_frames(frames.iter().cloned().map(Frame::new)).unwrap();
    drop(encoder);
    file
}

pub(crate) fn rgba(image: &RgbImage) -> RgbaImage {
    RgbaImage::from_fn(image.width(), image.height(), |x, y| {
        let Rgb([red, green, blue]) = *image.get_pixel(x, y);
        image::Rgba([red, green, blue, 255])
    })
}

/// A small file of each type.
pub(crate) fn one_of_each() -> Vec<(&'static str, Vec<u8>)> {
    let image = colourful(24, 16);
    vec![
        ("jpeg", jpeg(&image)),
        ("png", png(&image)),
        ("lossless webp", lossless_webp(&rgba(&image))),
        ("lossy webp", lossy_webp(24, 16)),
        ("animated webp", animated_webp(&rgba(&image), 2)),
        ("gif", gif(&[rgba(&image), rgba(&image)])),
    ]
}

/// The photo and its decoded picture; asserts that it has no other data.
pub(crate) fn photo(file: &[u8], max_side: u32) -> (Photo, RgbImage) {
    let photo = internals::prepare(file, max_side).unwrap();
    let shown = shown(&photo);
    (photo, shown)
}

/// The decoded picture of a photo; asserts that it has no other data.
pub(crate) fn shown(photo: &Photo) -> RgbImage {
    let decoded = image::load_from_memory_with_format(&photo.jpeg, ImageFormat::Jpeg).unwrap().into_rgb8();
    assert_eq!(decoded.dimensions(), (photo.width, photo.height));
    let segments = segments(&photo.jpeg);
    let expected = [0xE0, 0xDB, 0xC0, 0xC4, 0xDA];
    assert!(segments.iter().all(|code| expected.contains(code)), "{segments:X?}");
    assert!(photo.jpeg.ends_with(&[0xFF, 0xD9]));
    decoded
}

/// The codes of the segments of a JPEG up to its scan.
fn segments(jpeg: &[u8]) -> Vec<u8> {
    let mut codes = Vec::new();
    let mut position = 2;
    while codes.last() != Some(&0xDA) {
        assert_eq!(jpeg[position], 0xFF);
        codes.push(jpeg[position + 1]);
        position += 2 + usize::from(u16::from_be_bytes([jpeg[position + 2], jpeg[position + 3]]));
    }
    codes
}

/// Whether each colour is near what is expected.
pub(crate) fn near(found: Rgb<u8>, expected: [u8; 3], by: u8) -> bool {
    found.0.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= by)
}

/// Asserts the size and, within JPEG tolerance, the pixels of a picture.
pub(crate) fn assert_shows(shown: &RgbImage, expected: &RgbImage, by: f64) {
    assert_eq!(shown.dimensions(), expected.dimensions());
    let difference: u64 = shown.iter().zip(expected.iter()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = difference as f64 / shown.len() as f64;
    assert!(mean <= by, "differs by {mean}");
}

pub(crate) fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}
