use image::ColorType;

/// The layout of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One byte.
    Gray,
    /// Three bytes: red, green, blue.
    Rgb,
}

/// Converts decoded samples to 8 bits, over a white background. It works in place, because the picture is the largest object in
/// memory.
///
/// # Errors
///
/// If the colours are of an unsupported kind.
pub(super) fn flatten(samples: &mut Vec<u8>, color: ColorType) -> Result<Layout, String> {
    match color {
        ColorType::L8 | ColorType::Rgb8 => {}
        ColorType::La8 => squeeze(samples, |[gray, alpha]| [over_white(gray, alpha)]),
        ColorType::Rgba8 => squeeze(samples, |[red, green, blue, alpha]| {
            [red, green, blue].map(|sample| over_white(sample, alpha))
        }),
        ColorType::L16 => squeeze(samples, |[a, b]| [high(a, b)]),
        ColorType::La16 => squeeze(samples, |[a, b, x, y]| [over_white(high(a, b), high(x, y))]),
        ColorType::Rgb16 => squeeze(samples, |[a, b, c, d, e, f]| [high(a, b), high(c, d), high(e, f)]),
        ColorType::Rgba16 => squeeze(samples, |[a, b, c, d, e, f, x, y]| {
            [high(a, b), high(c, d), high(e, f)].map(|sample| over_white(sample, high(x, y)))
        }),
        other => return Err(format!("its colours are {other:?}")),
    }
    Ok(if color.has_color() { Layout::Rgb } else { Layout::Gray })
}

/// Replaces each pixel by a shorter one.
fn squeeze<const FROM: usize, const TO: usize>(
    samples: &mut Vec<u8>,
    pixel: impl Fn([u8; FROM]) -> [u8; TO],
) {
    let pixels = samples.len() / FROM;
    let mut from = [0; FROM];
    for index in 0..pixels {
        from.copy_from_slice(&samples[index * FROM..][..FROM]);
        samples[index * TO..][..TO].copy_from_slice(&pixel(from));
    }
    samples.truncate(pixels * TO);
    samples.shrink_to_fit();
}

/// Returns the upper byte of a 16-bit sample, whose byte order is that of the machine.
fn high(first: u8, second: u8) -> u8 {
    u16::from_ne_bytes([first, second]).to_be_bytes()[0]
}

fn over_white(sample: u8, alpha: u8) -> u8 {
    let (sample, alpha) = (u32::from(sample), u32::from(alpha));
    // At most 255, because it is a mean of numbers up to 255.
    ((sample * alpha + 255 * (255 - alpha) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_transparent_is_white_and_what_is_not_stays() {
        for sample in [0, 1, 127, 255] {
            assert_eq!(over_white(sample, 0), 255);
            assert_eq!(over_white(sample, 255), sample);
        }
        assert_eq!(over_white(0, 128), 127);
    }
}
