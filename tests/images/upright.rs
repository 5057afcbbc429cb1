use image::RgbImage;

use crate::support::{
    Tiff, chunk, colourful, contains, exif, exif_segment, jpeg, near, photo, png, quarters, rgba, segment,
    webp_with_exif, with_chunk, with_segments,
};

/// The colours of the corners in the order of reading.
fn corners(image: &RgbImage) -> String {
    let (right, bottom) = (image.width() - 2, image.height() - 2);
    let named = [('r', [255, 0, 0]), ('g', [0, 255, 0]), ('b', [0, 0, 255]), ('w', [255; 3])];
    let corner = |(x, y)| {
        let found = named.iter().find(|(_, colour)| near(*image.get_pixel(x, y), *colour, 40));
        found.map_or('?', |(name, _)| *name)
    };
    [(1, 1), (right, 1), (1, bottom), (right, bottom)].map(corner).into_iter().collect()
}

/// The stored quarters for each orientation, 1 to 8.
const UPRIGHT: [&str; 8] = ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"];

#[test]
fn photos_of_all_eight_orientations_stand_upright() {
    let image = quarters(64, 32);
    for order in [Tiff::Little, Tiff::Big] {
        for (orientation, expected) in (1..).zip(UPRIGHT) {
            let size = if orientation < 5 { (64, 32) } else { (32, 64) };
            let exif = exif(order, orientation);
            let files = [
                with_segments(&jpeg(&image), &[exif_segment(order, orientation)]),
                with_chunk(&png(&image), &chunk(*b"eXIf", &exif)),
                webp_with_exif(&rgba(&image), &exif),
            ];
            for (index, file) in files.iter().enumerate() {
                let (_, shown) = photo(file, 100);
                assert_eq!(shown.dimensions(), size, "file {index}, {order:?} {orientation}");
                assert_eq!(corners(&shown), expected, "file {index}, {order:?} {orientation}");
                let (_, shrunk) = photo(file, 40);
                assert_eq!(shrunk.width().max(shrunk.height()), 40);
                assert_eq!(corners(&shrunk), expected);
            }
        }
    }
}

#[test]
fn an_invalid_orientation_changes_nothing() {
    let image = quarters(64, 32);
    for orientation in [0, 9, u16::MAX] {
        let file = with_segments(&jpeg(&image), &[exif_segment(Tiff::Big, orientation)]);
        assert_eq!(corners(&photo(&file, 100).1), "rgbw");
    }
    let broken = with_segments(&jpeg(&image), &[segment(0xE1, b"Exif\0\0II*\0\xFF\xFF\xFF\xFF")]);
    assert_eq!(corners(&photo(&broken, 100).1), "rgbw");
}

#[test]
fn camera_metadata_is_removed() {
    let secret: [&[u8]; 6] =
        [b"SECRETCAM", b"Exif", b"xpacket", b"secret comment", b"ICC_PROFILE", b"Photoshop"];
    let xmp = b"http://ns.adobe.com/xap/1.0/\0<?xpacket begin=''?><x:xmpmeta><rdf:RDF/></x:xmpmeta>";
    let segments = [
        exif_segment(Tiff::Little, 1),
        segment(0xE1, xmp),
        segment(0xFE, b"secret comment"),
        segment(0xE2, b"ICC_PROFILE\0\x01\x01 no profile"),
        segment(0xED, b"Photoshop 3.0\0 secret comment"),
    ];
    let file = with_segments(&jpeg(&colourful(40, 30)), &segments);
    assert!(secret.iter().all(|text| contains(&file, text)));
    let (photo, _) = photo(&file, 100);
    assert!(secret.iter().all(|text| !contains(&photo.jpeg, text)));
}
