//! Data besides the image.

use siaga::internals::prepare;

use crate::support::{
    chunk, colourful, contains, jpeg, one_of_each, photo, png, riff, segment, vp8, with_chunk, with_segments,
};

#[test]
fn bytes_after_the_end_of_an_image_are_dropped() {
    let further = jpeg(&colourful(8, 8));
    let tails: [&[u8]; 4] =
        [&[0; 4_096], &further, &further[..further.len() - 1], b"<script>alert(1)</script>"];
    for (kind, file) in one_of_each() {
        let (plain, _) = photo(&file, 100);
        for tail in tails {
            let text = tail.escape_ascii();
            assert_eq!(prepare(&[&file[..], tail].concat(), 100), Ok(plain.clone()), "{kind} and {text}");
        }
    }
}

#[test]
fn markup_in_comments_and_text_chunks_is_dropped() {
    let image = colourful(16, 16);
    let markup = b"<script>alert(1)</script>";
    let text = [b"Comment\0", &markup[..]].concat();
    for file in [
        with_segments(&jpeg(&image), &[segment(0xFE, markup)]),
        with_chunk(&png(&image), &chunk(*b"tEXt", &text)),
        riff(&[(*b"VP8 ", vp8(16, 16)), (*b"XMP ", markup.into())]),
    ] {
        assert!(contains(&file, markup));
        assert!(!contains(&photo(&file, 100).0.jpeg, b"<script"));
    }
}

#[test]
fn the_end_of_a_thumbnail_is_not_the_end_of_its_image() {
    let thumbnail = segment(0xE1, &jpeg(&colourful(8, 8)));
    let file = with_segments(&jpeg(&colourful(40, 20)), &[thumbnail]);
    assert_eq!(photo(&file, 100).1.dimensions(), (40, 20));
    for cut in 700..file.len() {
        assert!(prepare(&file[..cut], 100).is_err());
    }
}
