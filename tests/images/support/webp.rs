//! Files of WebP: lossless, lossy and animated.

use image::RgbaImage;
use image::codecs::webp::WebPEncoder;

pub(crate) fn lossless_webp(image: &RgbaImage) -> Vec<u8> {
    let mut file = Vec::new();
    let (width, height) = image.dimensions();
    WebPEncoder::new_lossless(&mut file)
        .encode(image, width, height, image::ExtendedColorType::Rgba8)
        .unwrap();
    file
}

pub(crate) fn riff(chunks: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let body =
        [b"WEBP".to_vec(), chunks.iter().flat_map(|(name, data)| chunk(*name, data)).collect()].concat();
    [&b"RIFF"[..], &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let pad = vec![0; data.len() % 2];
    [&name[..], &u32::try_from(data.len()).unwrap().to_le_bytes(), data, &pad].concat()
}

/// A lossy picture of zero bits.
pub(crate) fn vp8(width: u16, height: u16) -> Vec<u8> {
    let blocks = usize::from(width).div_ceil(16) * usize::from(height).div_ceil(16);
    let first = 64 + blocks * 2;
    // A shown key frame, and the length of its first part.
    let tag = (first as u32) << 5 | 1 << 4;
    let [w, h] = [width.to_le_bytes(), height.to_le_bytes()];
    let head = [&tag.to_le_bytes()[..3], &[0x9D, 0x01, 0x2A], &w, &h].concat();
    [head, vec![0; first + 64 + blocks * 16]].concat()
}

pub(crate) fn lossy_webp(width: u16, height: u16) -> Vec<u8> {
    riff(&[(*b"VP8 ", vp8(width, height))])
}

fn extended(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let [w, h] = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    [&[flags, 0, 0, 0][..], &w[..3], &h[..3]].concat()
}

/// The lossless picture within a file.
fn bitstream(image: &RgbaImage) -> Vec<u8> {
    let file = lossless_webp(image);
    let start = file.windows(4).position(|name| name == b"VP8L").unwrap();
    let length = u32::from_le_bytes(file[start + 4..start + 8].try_into().unwrap()) as usize;
    file[start + 8..][..length].to_vec()
}

pub(crate) fn webp_with_exif(image: &RgbaImage, exif: &[u8]) -> Vec<u8> {
    let header = extended(0x08 | 0x10, image.width(), image.height());
    riff(&[(*b"VP8X", header), (*b"VP8L", bitstream(image)), (*b"EXIF", exif.to_vec())])
}

pub(crate) fn animated_webp(image: &RgbaImage, frames: usize) -> Vec<u8> {
    let (width, height) = image.dimensions();
    let [w, h] = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    let frame = [&[0; 6], &w[..3], &h[..3], &[100, 0, 0, 0], &chunk(*b"VP8L", &bitstream(image))].concat();
    let mut chunks = vec![(*b"VP8X", extended(0x02 | 0x10, width, height)), (*b"ANIM", vec![0; 6])];
    chunks.extend(vec![(*b"ANMF", frame); frames]);
    riff(&chunks)
}
