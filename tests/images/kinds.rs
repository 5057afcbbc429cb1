use image::codecs::jpeg::JpegEncoder;
use image::{ColorType as Samples, GrayImage, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use png::{BitDepth, ColorType};
use siaga::internals::prepare;

use crate::support::{
    animated_webp, assert_shows, colourful, gif, jpeg, lossless_webp, lossy_webp, near, photo, png, png_of,
    progressive, rgba, segment, shown, with_segments,
};

#[test]
fn every_type_is_decoded_and_an_animation_shows_its_first_frame() {
    let (image, black) = (colourful(48, 32), RgbaImage::from_pixel(48, 32, Rgba([0, 0, 0, 255])));
    for (file, by) in [
        (jpeg(&image), 3.0),
        (png(&image), 3.0),
        (lossless_webp(&rgba(&image)), 3.0),
        (animated_webp(&rgba(&image), 3), 3.0),
        (gif(&[rgba(&image), black]), 6.0), // the first of two
    ] {
        assert_shows(&photo(&file, 100).1, &image, by);
    }
}

#[test]
fn a_lossy_webp_and_a_progressive_jpeg_are_one_tone_here() {
    for file in [lossy_webp(40, 24), progressive(40, 24, 3, 5), progressive(40, 24, 1, 5)] {
        let (_, shown) = photo(&file, 100);
        assert_eq!(shown.dimensions(), (40, 24));
        let first = *shown.get_pixel(0, 0);
        assert!(shown.pixels().all(|pixel| near(*pixel, first.0, 3)));
    }
}

/// Widens 8-bit samples to 16 bits.
fn wide(samples: &[u8]) -> Vec<u8> {
    samples.iter().flat_map(|sample| [*sample; 2]).collect()
}

#[test]
fn transparent_pixels_become_white() {
    let image = RgbaImage::from_fn(32, 32, |x, _| Rgba([0, 0, 0, if x < 16 { 0 } else { 255 }]));
    let half = RgbImage::from_fn(32, 32, |x, _| Rgb([if x < 16 { 255 } else { 0 }; 3]));
    let gray: Vec<u8> = image.pixels().flat_map(|pixel| [pixel.0[0], pixel.0[3]]).collect();
    for file in [
        png_of(32, 32, ColorType::Rgba, BitDepth::Eight, &image, |_| {}),
        png_of(32, 32, ColorType::Rgba, BitDepth::Sixteen, &wide(&image), |_| {}),
        png_of(32, 32, ColorType::GrayscaleAlpha, BitDepth::Eight, &gray, |_| {}),
        png_of(32, 32, ColorType::GrayscaleAlpha, BitDepth::Sixteen, &wide(&gray), |_| {}),
        lossless_webp(&image),
        animated_webp(&image, 1),
        gif(std::slice::from_ref(&image)),
    ] {
        assert_shows(&photo(&file, 100).1, &half, 3.0);
    }
}

#[test]
fn every_colour_depth_is_decoded_and_gray_stays_gray() {
    let image = colourful(32, 32);
    let sixteen = png_of(32, 32, ColorType::Rgb, BitDepth::Sixteen, &wide(&image), |_| {});
    let stripes = |x: u32| if x.is_multiple_of(2) { [200, 30, 30] } else { [30, 30, 200] };
    let striped = RgbImage::from_fn(32, 32, |x, _| Rgb(stripes(x / 8)));
    let bits = [[0x00, 0xFF, 0x00, 0xFF]; 32].concat();
    let palette = png_of(32, 32, ColorType::Indexed, BitDepth::One, &bits, |encoder| {
        encoder.set_palette([stripes(0), stripes(1)].concat());
    });
    let gray = GrayImage::from_fn(32, 32, |x, y| Luma([(x * 4 + y * 4) as u8]));
    let grays = RgbImage::from_fn(32, 32, |x, y| Rgb([gray.get_pixel(x, y).0[0]; 3]));
    let mut drawn = Vec::new();
    JpegEncoder::new(&mut drawn).encode(&gray, 32, 32, Samples::L8.into()).unwrap();
    for (file, shown) in [
        (sixteen, &image),
        (palette, &striped),
        (drawn, &grays),
        (png_of(32, 32, ColorType::Grayscale, BitDepth::Eight, &gray, |_| {}), &grays),
        (png_of(32, 32, ColorType::Grayscale, BitDepth::Sixteen, &wide(&gray), |_| {}), &grays),
    ] {
        assert_shows(&photo(&file, 100).1, shown, 5.0);
        assert_eq!(photo(&file, 16).1.dimensions(), (16, 16));
    }
}

#[test]
fn a_jpeg_that_stores_red_green_and_blue_as_they_are_shows_them_or_is_refused() {
    // This gray has the same values in YCbCr.
    let gray = RgbImage::from_pixel(32, 32, Rgb([128; 3]));
    let adobe = segment(0xEE, b"Adobe\0\x64\0\0\0\0\0");
    if let Ok(photo) = prepare(&with_segments(&jpeg(&gray), &[adobe]), 100) {
        assert_shows(&shown(&photo), &gray, 3.0);
    }
    let mut named = jpeg(&gray);
    for (code, first, step) in [([0xFF, 0xC0], 10, 3), ([0xFF, 0xDA], 5, 2)] {
        let start = named.windows(2).position(|bytes| bytes == code).unwrap() + first;
        for (index, name) in b"RGB".iter().enumerate() {
            named[start + index * step] = *name;
        }
    }
    assert_shows(&photo(&named, 100).1, &gray, 3.0);
}
