use image::{Rgba, RgbaImage};
use png::{BitDepth, ColorType};
use siaga::internals::{MAX_PIXELS, MAX_SCANS, NotAPhoto, prepare};

use crate::support::{
    animated_webp, chunk, colourful, gif, jpeg, lossless_webp, png, png_of, progressive, rgba, riff, segment,
    vp8, with_chunk, with_segments,
};

fn refusal(file: &[u8]) -> NotAPhoto {
    prepare(file, 100).unwrap_err()
}

#[test]
fn other_content_is_rejected_whatever_its_declared_type() {
    assert_eq!(refusal(b""), NotAPhoto::Empty);
    for other in [&b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..], b"\0\0\0\x18ftypheic"] {
        assert_eq!(refusal(other), NotAPhoto::OtherType);
    }
    for start in [&b"\xFF\xD8\xFF"[..], b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP", b"GIF89a"] {
        assert!(prepare(&[start, &[0xFF; 64]].concat(), 100).is_err());
    }
}

/// For each type a header with 30,000 × 30,000 pixels, or the maximum of the type.
fn huge() -> Vec<Vec<u8>> {
    let side = 30_000_u16;
    let mut drawn = jpeg(&colourful(16, 16));
    let frame = frame(&drawn, 0xC0);
    drawn[frame + 5..frame + 9].copy_from_slice(&[side.to_be_bytes(), side.to_be_bytes()].concat());
    let sides = [u32::from(side).to_be_bytes(); 2].concat();
    let header = [&sides[..], &[8, 2, 0, 0, 0]].concat();
    let small = png(&colourful(16, 16));
    let chunks = [&small[..8], &chunk(*b"IHDR", &header), &small[33..]].concat();
    let mut blocks = gif(&[rgba(&colourful(16, 16))]);
    blocks[6..10].copy_from_slice(&[side.to_le_bytes(), side.to_le_bytes()].concat());
    let mut lossy = vp8(16, 16);
    lossy[6..10].copy_from_slice(&[0xFF, 0x3F, 0xFF, 0x3F]);
    let mut animated = animated_webp(&rgba(&colourful(16, 16)), 1);
    animated[24..30].copy_from_slice(&[0x2F, 0x75, 0, 0x2F, 0x75, 0]);
    vec![drawn, chunks, blocks, riff(&[(*b"VP8 ", lossy)]), animated]
}

#[test]
fn a_huge_picture_is_refused_by_its_header() {
    for file in huge() {
        let refusal = refusal(&file);
        let is_huge = matches!(refusal, NotAPhoto::TooManyPixels { pixels } if pixels > 5 * MAX_PIXELS);
        assert!(is_huge, "{refusal}");
    }
}

#[test]
fn a_picture_within_a_picture_counts_towards_the_limit() {
    // A small canvas with a huge frame.
    let mut lossy = vp8(16, 16);
    lossy[6..10].copy_from_slice(&[0xFF, 0x3F, 0xFF, 0x3F]);
    let canvas = [&[0, 0, 0, 0][..], &[15, 0, 0, 15, 0, 0]].concat();
    let refused = refusal(&riff(&[(*b"VP8X", canvas), (*b"VP8 ", lossy)]));
    assert!(matches!(refused, NotAPhoto::TooMuchMemory { .. }), "{refused}");
    let mut blocks = gif(&[rgba(&colourful(16, 16))]);
    let frame = blocks.windows(8).position(|block| block == [0x2C, 0, 0, 0, 0, 16, 0, 16]).unwrap();
    blocks[frame + 5..frame + 9].fill(0xFF);
    let refused = refusal(&blocks);
    assert!(matches!(refused, NotAPhoto::TooMuchMemory { .. }), "{refused}");
}

#[test]
fn a_side_can_be_too_long() {
    assert_eq!(refusal(&png(&colourful(20_001, 1))), NotAPhoto::TooLong { side: 20_001 });
    assert!(prepare(&png(&colourful(1, 20_000)), 100).is_ok());
}

#[test]
fn a_progressive_jpeg_counts_its_coefficients_and_how_often_it_is_drawn() {
    assert!(prepare(&progressive(1_000, 1_000, 3, 8), 100).is_ok());
    let refused = refusal(&progressive(7_000, 7_000, 3, 2));
    assert!(matches!(refused, NotAPhoto::TooMuchMemory { .. }), "{refused}");
    assert!(prepare(&progressive(64, 64, 3, MAX_SCANS), 100).is_ok());
    let refused = NotAPhoto::TooManyScans { allowed: MAX_SCANS };
    assert_eq!(refusal(&progressive(64, 64, 3, MAX_SCANS + 1)), refused);
}

/// Where the header of a JPEG's picture is.
fn frame(file: &[u8], code: u8) -> usize {
    file.windows(2).position(|found| found == [0xFF, code]).unwrap()
}

#[test]
fn a_jpeg_that_is_not_progressive_draws_each_colour_once() {
    let mut file = progressive(64, 64, 3, 4);
    let frame = frame(&file, 0xC2);
    file[frame + 1] = 0xC0;
    assert_eq!(refusal(&file), NotAPhoto::TooManyScans { allowed: 3 });
}

#[test]
fn a_cmyk_jpeg_is_rejected() {
    let mut file = jpeg(&colourful(16, 16));
    let frame = frame(&file, 0xC0);
    file[frame + 9] = 4;
    let refused = refusal(&file);
    assert!(
        matches!(&refused, NotAPhoto::Undecodable(why) if why.contains("4 colour components")),
        "{refused}"
    );
}

#[test]
fn a_colour_profile_that_decompresses_to_a_huge_size_is_dropped() {
    // A colour profile compresses like pixels.
    let inner = png_of(4_000, 8_000, ColorType::Grayscale, BitDepth::Eight, &vec![0; 32_000_000], |_| {});
    let start = inner.windows(4).position(|name| name == b"IDAT").unwrap();
    let length = u32::from_be_bytes(inner[start - 4..start].try_into().unwrap()) as usize;
    let packed = [b"bomb\0\0", &inner[start + 4..][..length]].concat();
    let file = with_chunk(&png(&colourful(16, 16)), &chunk(*b"iCCP", &packed));
    assert!(file.len() < 300_000);
    assert_eq!(prepare(&file, 100).map(|photo| photo.width), Ok(16));
}

#[test]
fn a_lossless_webp_is_rejected_when_its_prefix_codes_could_need_too_much_memory() {
    let noise = |side: u32| {
        let mut state = 1_u32;
        RgbaImage::from_fn(side, side, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgba([(state >> 24) as u8, (state >> 16) as u8, (state >> 8) as u8, 255])
        })
    };
    let small = lossless_webp(&noise(400));
    assert!((400_000..600_000).contains(&small.len()), "{}", small.len());
    assert_eq!(prepare(&small, 100).map(|photo| photo.width), Ok(100));
    let large = lossless_webp(&noise(600));
    assert!(matches!(refusal(&large), NotAPhoto::TooMuchMemory { .. }), "{} bytes", large.len());
}

#[test]
fn bytes_between_the_parts_of_an_image_are_rejected() {
    let image = jpeg(&colourful(16, 16));
    assert!(prepare(&with_segments(&image, &[b"PK\x03\x04".to_vec()]), 100).is_err());
    assert!(prepare(&with_segments(&image, &[segment(0xE5, b"known to nobody")]), 100).is_ok());
    assert!(prepare(&with_chunk(&png(&colourful(16, 16)), b"\0\0\0\0\0\0\0\0\0\0\0\0"), 100).is_err());
}
