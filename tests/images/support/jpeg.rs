//! JPEGs, with the segments that cameras write.

use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;

pub(crate) fn jpeg(image: &RgbImage) -> Vec<u8> {
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, 95).encode_image(image).unwrap();
    file
}

pub(crate) fn segment(code: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 2).unwrap();
    [&[0xFF, code], &length.to_be_bytes()[..], data].concat()
}

/// A JPEG with segments right behind its start.
pub(crate) fn with_segments(jpeg: &[u8], segments: &[Vec<u8>]) -> Vec<u8> {
    [&jpeg[..2], &segments.concat(), &jpeg[2..]].concat()
}

/// The byte order of EXIF.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tiff {
    Little,
    Big,
}

/// EXIF with an orientation and a place: 6°10'31" S, 106°49'37" E, and a name that can be searched for.
pub(crate) fn exif(order: Tiff, orientation: u16) -> Vec<u8> {
    let short = |value: u16| match order {
        Tiff::Little => value.to_le_bytes(),
        Tiff::Big => value.to_be_bytes(),
    };
    let long = |value: u32| match order {
        Tiff::Little => value.to_le_bytes(),
        Tiff::Big => value.to_be_bytes(),
    };
    let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        [&short(tag)[..], &short(kind), &long(count), &value].concat()
    };
    let padded = |value: [u8; 2]| [value[0], value[1], 0, 0];
    let place = 8 + 2 + 3 * 12 + 4;
    let values = place + 2 + 4 * 12 + 4;
    let mut tiff = match order {
        Tiff::Little => b"II*\0".to_vec(),
        Tiff::Big => b"MM\0*".to_vec(),
    };
    tiff.extend(long(8));
    tiff.extend(short(3));
    tiff.extend(entry(0x010F, 2, 10, long(values + 48)));
    tiff.extend(entry(0x0112, 3, 1, padded(short(orientation))));
    tiff.extend(entry(0x8825, 4, 1, long(place)));
    tiff.extend(long(0));
    tiff.extend(short(4));
    tiff.extend(entry(1, 2, 2, *b"S\0\0\0"));
    tiff.extend(entry(2, 5, 3, long(values)));
    tiff.extend(entry(3, 2, 2, *b"E\0\0\0"));
    tiff.extend(entry(4, 5, 3, long(values + 24)));
    tiff.extend(long(0));
    for value in [6, 10, 31, 106, 49, 37] {
        tiff.extend(long(value));
        tiff.extend(long(1));
    }
    tiff.extend(b"SECRETCAM\0");
    tiff
}

pub(crate) fn exif_segment(order: Tiff, orientation: u16) -> Vec<u8> {
    segment(0xE1, &[b"Exif\0\0", &exif(order, orientation)[..]].concat())
}

/// A progressive JPEG of one gray tone, drawn in so many scans of which each says nothing new.
pub(crate) fn progressive(width: u16, height: u16, components: u8, scans: usize) -> Vec<u8> {
    let mut file = vec![0xFF, 0xD8];
    file.extend(segment(0xDB, &[&[0][..], &[1; 64]].concat()));
    let [w, h] = [width.to_be_bytes(), height.to_be_bytes()];
    let parts: Vec<u8> = (1..=components).flat_map(|id| [id, 0x11, 0]).collect();
    file.extend(segment(0xC2, &[&[8, h[0], h[1], w[0], w[1], components], &parts[..]].concat()));
    // Each table has one code of one bit: no difference, and the end of 32,767 blocks and more.
    let code = |class: u8, symbol: u8| [&[class, 1][..], &[0; 15], &[symbol]].concat();
    file.extend(segment(0xC4, &[code(0x00, 0), code(0x10, 0xE0)].concat()));
    let blocks = usize::from(width).div_ceil(8) * usize::from(height).div_ceil(8);
    let ids: Vec<u8> = (1..=components).flat_map(|id| [id, 0]).collect();
    file.extend(segment(0xDA, &[&[components], &ids[..], &[0, 0, 0]].concat()));
    file.extend(vec![0; (blocks * usize::from(components)).div_ceil(8)]);
    for _ in 1..scans {
        file.extend(segment(0xDA, &[1, 1, 0, 1, 63, 0]));
        file.extend(vec![0; (blocks.div_ceil(16_384) * 15).div_ceil(8)]);
    }
    file.extend([0xFF, 0xD9]);
    file
}
