//! How much memory making a photo takes, at its most.

use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use png::{BitDepth, ColorType, Compression, Encoder};
use siaga::internals::{NotAPhoto, Photo, prepare};

use super::{Before, MIB, is_alone};

/// Makes a photo, and tells by how much memory grew meanwhile at its most.
fn measured(file: &[u8], max_side: u32) -> (Result<Photo, NotAPhoto>, u64) {
    let before = Before::now();
    let photo = prepare(file, max_side);
    (photo, before.peak())
}

fn png(width: u32, height: u32, color: ColorType, depth: BitDepth) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(Compression::Fastest);
    let row = (width as usize * color.samples() * depth as usize).div_ceil(8);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; row * height as usize]).unwrap();
    drop(writer);
    file
}

/// A JPEG whose rows differ from each other and within.
fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let row: Vec<u8> = (0..width * 3).map(|at| (at / 3 % 64 * 3) as u8).collect();
    let mut samples = Vec::with_capacity((width * height * 3) as usize);
    for line in 0..height as usize {
        let turn = line % 64 * 3;
        samples.extend([&row[turn..], &row[..turn]].concat());
    }
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, 80)
        .encode(&samples, width, height, ExtendedColorType::Rgb8)
        .unwrap();
    file
}

#[test]
fn no_file_takes_more_memory_than_is_allowed() {
    if !is_alone("memory::photos::no_file_takes_more_memory_than_is_allowed") {
        return;
    }
    let (photo, taken) = measured(&png(30_000, 30_000, ColorType::Grayscale, BitDepth::One), 1_600);
    assert_eq!(photo, Err(NotAPhoto::TooManyPixels { pixels: 900_000_000 }));
    assert!(taken < 20 * MIB, "a header of 900 megapixels: {} MiB", taken / MIB);

    let (photo, taken) = measured(&jpeg(4_032, 3_024), 1_600);
    assert_eq!(photo.map(|photo| (photo.width, photo.height)), Ok((1_600, 1_200)));
    assert!(taken < 150 * MIB, "a JPEG of 12 megapixels: {} MiB", taken / MIB);

    let deep = png(5_400, 5_400, ColorType::Rgba, BitDepth::Sixteen);
    let (photo, taken) = measured(&deep, 1_600);
    assert!(photo.is_ok(), "{photo:?}");
    assert!(taken < 250 * MIB, "the largest PNG of 16 bits: {} MiB", taken / MIB);

    let larger = png(5_500, 5_500, ColorType::Rgba, BitDepth::Sixteen);
    let (photo, taken) = measured(&larger, 1_600);
    assert!(matches!(photo, Err(NotAPhoto::TooMuchMemory { .. })), "{photo:?}");
    assert!(taken < 20 * MIB, "a larger one: {} MiB", taken / MIB);
}
