//! PNGs of all kinds of colours.

use image::RgbImage;
use png::{BitDepth, ColorType, Encoder};

pub(crate) fn png(image: &RgbImage) -> Vec<u8> {
    png_of(image.width(), image.height(), ColorType::Rgb, BitDepth::Eight, image.as_raw(), |_| {})
}

/// A PNG of these samples, as the format stores them.
pub(crate) fn png_of(
    width: u32,
    height: u32,
    color: ColorType,
    depth: BitDepth,
    samples: &[u8],
    more: impl FnOnce(&mut Encoder<'_, &mut Vec<u8>>),
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    more(&mut encoder);
    encoder.write_header().unwrap().write_image_data(samples).unwrap();
    file
}

pub(crate) fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [&name[..], data].concat();
    let sum = named.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xEDB8_8320 * (sum & 1)))
    });
    [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], &named, &(!sum).to_be_bytes()].concat()
}

/// A PNG with a chunk right behind its header.
pub(crate) fn with_chunk(png: &[u8], chunk: &[u8]) -> Vec<u8> {
    const HEADER: usize = 8 + 12 + 13;
    [&png[..HEADER], chunk, &png[HEADER..]].concat()
}
