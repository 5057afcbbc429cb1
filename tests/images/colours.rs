use image::{Rgb, RgbImage};
use moxcms::ColorProfile;

use crate::support::{colourful, jpeg, near, photo, segment, with_segments};

fn with_profile(image: &RgbImage, profile: &[u8]) -> Vec<u8> {
    with_segments(&jpeg(image), &[segment(0xE2, &[b"ICC_PROFILE\0\x01\x01", profile].concat())])
}

#[test]
fn wide_gamut_colours_are_converted_to_srgb_and_srgb_stays_unchanged() {
    // The same green has a lower green value in the wider space.
    let image = RgbImage::from_pixel(32, 32, Rgb([117, 251, 76]));
    for (profile, expected) in
        [(ColorProfile::new_display_p3(), [0, 255, 0]), (ColorProfile::new_srgb(), [117, 251, 76])]
    {
        let (_, shown) = photo(&with_profile(&image, &profile.encode().unwrap()), 100);
        let found = *shown.get_pixel(16, 16);
        assert!(near(found, expected, 12), "{found:?}");
    }
}

#[test]
fn a_broken_profile_is_dropped() {
    let whole = ColorProfile::new_display_p3().encode().unwrap();
    let image = colourful(32, 32);
    let (plain, _) = photo(&jpeg(&image), 100);
    assert_eq!(photo(&with_profile(&image, b"nonsense"), 100).0, plain);
    for length in 0..whole.len() {
        photo(&with_profile(&image, &whole[..length]), 100);
    }
}
