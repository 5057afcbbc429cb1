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

/// EXIF with an orientation, and a name that can be searched for.
pub(crate) fn exif(order: Tiff, orientation: u16) -> Vec<u8> {
    // One directory of two entries: the maker behind it, and the orientation.
    let mut words = vec![0x002A, 0, 8, 2, 0x010F, 2, 0, 10, 0, 38, 0x0112, 3, 0, 1, orientation, 0, 0, 0];
    let start = match order {
        Tiff::Little => {
            // The lower half of a number comes first.
            for of_long in [1, 6, 8, 12] {
                words.swap(of_long, of_long + 1);
            }
            b"II"
        }
        Tiff::Big => b"MM",
    };
    let bytes = words.into_iter().flat_map(|word: u16| match order {
        Tiff::Little => word.to_le_bytes(),
        Tiff::Big => word.to_be_bytes(),
    });
    start.iter().copied().chain(bytes).chain(*b"SECRETCAM\0").collect()
}

pub(crate) fn exif_segment(order: Tiff, orientation: u16) -> Vec<u8> {
    segment(0xE1, &[b"Exif\0\0", &exif(order, orientation)[..]].concat())
}

/// A gray progressive JPEG with a number of redundant scans.
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
