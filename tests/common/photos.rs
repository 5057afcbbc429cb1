//! Photos as phones take them.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, Rgb, RgbImage};

/// A picture that is red on its left and blue on its right side, as a file of a type.
pub(crate) fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    red_and_blue(width, height).write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn red_and_blue(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) })
}

/// A photo with orientation (EXIF tag 274) and place in its metadata.
pub(crate) fn photo(width: u32, height: u32, orientation: u8) -> Vec<u8> {
    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg).encode_image(&red_and_blue(width, height)).unwrap();
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x02\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend([orientation, 0, 0]);
    // The name of the place, behind the tags.
    exif.extend(b"\x01\x0E\0\x02\0\0\0\x14\0\0\0\x26\0\0\0\0");
    exif.extend(b"6.2088 S, 106.8456 E\0");
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let segment = [&[0xFF, 0xE1], &length[..], &exif].concat();
    jpeg.splice(2..2, segment);
    jpeg
}
