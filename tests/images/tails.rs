use siaga::images::photo::{NotAPhoto, prepare};

use crate::support::{colourful, film, jpeg, one_of_each, phone_trailer, photo, segment, with_segments};

fn tails() -> Vec<Vec<u8>> {
    let further = jpeg(&colourful(8, 8));
    vec![
        vec![0; 4_096],
        further.clone(),
        [&further[..], &further].concat(),
        [&[0; 100], &further[..], &[0; 3]].concat(),
        film(),
        [&[0; 8], &film()[..]].concat(),
        [&further[..], &film()].concat(),
        phone_trailer(b"\0\0\x01\x0A\x0E\0\0\0Image_UTC_Data1700000000000"),
        phone_trailer(&[b"\0\0\x30\x0A\x10\0\0\0MotionPhoto_Data", &film()[..]].concat()),
        [&further[..], &[0; 16], &phone_trailer(b"block")].concat(),
    ]
}

#[test]
fn what_cameras_append_is_accepted_and_left_out() {
    for (kind, file) in one_of_each() {
        let (plain, _) = photo(&file, 100);
        for (index, tail) in tails().iter().enumerate() {
            assert_eq!(
                prepare(&[&file[..], tail].concat(), 100),
                Ok(plain.clone()),
                "{kind} and tail {index}"
            );
        }
    }
}

#[test]
fn a_thumbnail_is_not_the_end_of_its_image() {
    let thumbnail = segment(0xE1, &jpeg(&colourful(8, 8)));
    let file = with_segments(&jpeg(&colourful(40, 20)), &[thumbnail]);
    assert_eq!(photo(&file, 100).1.dimensions(), (40, 20));
    for cut in 700..file.len() {
        assert!(prepare(&file[..cut], 100).is_err());
    }
}

#[test]
fn what_pretends_to_be_appended_by_a_camera_is_refused() {
    let image = jpeg(&colourful(16, 16));
    let further = jpeg(&colourful(8, 8));
    let trailer = phone_trailer(b"block");
    for tail in [
        further[..further.len() - 1].to_vec(),
        film()[..film().len() - 1].to_vec(),
        [&film()[..], b"more"].concat(),
        [b"more", &film()[..]].concat(),
        trailer[1..].to_vec(),
        [b"x", &trailer[..]].concat(),
        b"\0\0\0\0SEFT".to_vec(),
        b"SEFT".to_vec(),
        [&trailer[..], b"x"].concat(),
    ] {
        let answer = prepare(&[&image[..], &tail].concat(), 100);
        assert!(matches!(answer, Err(NotAPhoto::Foreign(_))), "{answer:?}");
    }
}
