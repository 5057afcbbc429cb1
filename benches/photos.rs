//! Measures how long it takes to make a photo from a phone's picture, and how much memory.

use std::fs;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};
use siaga::internals::prepare;

/// The longest side of photos, in pixels.
const MAX_SIDE: u32 = 1_600;

/// Makes a JPEG of this size: gradients, waves and noise, about as hard to compress as a picture of a street.
fn taken(width: u32, height: u32) -> Vec<u8> {
    let mut state = 1_u32;
    let image = RgbImage::from_fn(width, height, |x, y| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let wave = ((x as f32 / 37.0).sin() + (y as f32 / 23.0).cos()) * 30.0;
        let light = (x * 60 / width + y * 60 / height) as f32 + 60.0 + wave + (state % 24) as f32;
        image::Rgb([light as u8, (light * 0.9) as u8, (light * 0.7) as u8])
    });
    let mut file = Vec::new();
    let encoded =
        JpegEncoder::new_with_quality(&mut file, 85).encode(&image, width, height, ExtendedColorType::Rgb8);
    encoded.expect("a JPEG");
    file
}

/// Returns a field of this process's status in MiB, if the system has it.
fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(":"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn photos(criterion: &mut Criterion) {
    for (name, width, height) in [("12 megapixels", 4_032, 3_024), ("48 megapixels", 8_064, 6_048)] {
        let file = taken(width, height);
        // Resets the peak of the memory.
        let forgotten = fs::write("/proc/self/clear_refs", "5").is_ok();
        let before = status("VmRSS");
        prepare(&file, MAX_SIDE).expect("a photo");
        if let (true, Some(before), Some(peak)) = (forgotten, before, status("VmHWM")) {
            println!(
                "{name}, {} KiB: {} MiB more than before",
                file.len() / 1024,
                peak.saturating_sub(before)
            );
        }
        let mut group = criterion.benchmark_group("photos");
        group.sample_size(10);
        group.bench_function(format!("a photo of {name}"), |bench| {
            bench.iter(|| prepare(black_box(&file), MAX_SIDE).map(black_box));
        });
    }
}

criterion_group!(benches, photos);
criterion_main!(benches);
