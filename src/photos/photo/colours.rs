use moxcms::{ColorProfile, DataColorSpace, Layout as Samples, TransformOptions};

use super::flatten::Layout;
use super::picture::Picture;

/// Converts the colours from an ICC profile to sRGB.
///
/// Supports RGB profiles with a tone curve per channel, as cameras, phones and screens use them (Display P3, Adobe RGB). Leaves
/// gray pictures, and pictures with other profiles, unchanged.
pub(super) fn to_srgb(picture: &mut Picture, profile: &[u8]) {
    if picture.layout == Layout::Gray {
        return;
    }
    let Ok(profile) = ColorProfile::new_from_slice(profile) else { return };
    let curves = [&profile.red_trc, &profile.green_trc, &profile.blue_trc];
    let tables =
        [&profile.lut_a_to_b_perceptual, &profile.lut_a_to_b_colorimetric, &profile.lut_a_to_b_saturation];
    if profile.color_space != DataColorSpace::Rgb
        || curves.iter().any(|curve| curve.is_none())
        || tables.iter().any(|table| table.is_some())
    {
        return;
    }
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let Ok(transform) = profile.create_transform_8bit(Samples::Rgb, &srgb, Samples::Rgb, options) else {
        return;
    };
    let mut samples = vec![0; picture.samples.len()];
    if transform.transform(&picture.samples, &mut samples).is_ok() {
        picture.samples = samples;
    }
}
