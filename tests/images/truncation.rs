use siaga::internals::{NotAPhoto, prepare};

use crate::support::{Tiff, colourful, exif_segment, jpeg, one_of_each, with_segments};

#[test]
fn no_part_of_an_image_is_an_image() {
    for (kind, file) in one_of_each() {
        assert!(prepare(&file, 100).is_ok(), "{kind}");
        for end in 0..file.len() {
            assert!(prepare(&file[..end], 100).is_err(), "{kind} cut at {end}");
        }
    }
}

#[test]
fn a_jpeg_cut_within_its_picture_is_not_published_half_gray() {
    let file = with_segments(&jpeg(&colourful(200, 200)), &[exif_segment(Tiff::Big, 6)]);
    for end in (1_000..file.len()).step_by(97) {
        assert_eq!(prepare(&file[..end], 100), Err(NotAPhoto::CutOff));
    }
}
