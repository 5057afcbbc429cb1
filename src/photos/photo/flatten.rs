use image::ColorType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Gray,
    Rgb,
}

/// Converts samples to 8 bits over a white background. Works in place, because the picture is the largest object in memory.
pub(super) fn flatten(samples: &mut Vec<u8>, color: ColorType) -> Result<Layout, String> {
    match color {
        ColorType::L8 | ColorType::Rgb8 => {}
        ColorType::La8 => convert(samples, |[gray, alpha]| [blend(gray, alpha)]),
        ColorType::Rgba8 => convert(samples, |[red, green, blue, alpha]| {
            [red, green, blue].map(|sample| blend(sample, alpha))
        }),
        ColorType::L16 => convert(samples, |[a, b]| [high_byte(a, b)]),
        ColorType::La16 => convert(samples, |[a, b, x, y]| [blend(high_byte(a, b), high_byte(x, y))]),
        ColorType::Rgb16 => {
            convert(samples, |[a, b, c, d, e, f]| [high_byte(a, b), high_byte(c, d), high_byte(e, f)]);
        }
        ColorType::Rgba16 => convert(samples, |[a, b, c, d, e, f, x, y]| {
            [high_byte(a, b), high_byte(c, d), high_byte(e, f)].map(|sample| blend(sample, high_byte(x, y)))
        }),
        other => return Err(format!("its colours are {other:?}")),
    }
    Ok(if color.has_color() { Layout::Rgb } else { Layout::Gray })
}

/// Converts samples in place, from `FROM` to `TO` bytes per pixel. `TO` must not be larger.
fn convert<const FROM: usize, const TO: usize>(
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

/// Returns the upper byte of a 16-bit sample in native byte order.
fn high_byte(first: u8, second: u8) -> u8 {
    u16::from_ne_bytes([first, second]).to_be_bytes()[0]
}

fn blend(sample: u8, alpha: u8) -> u8 {
    let (sample, alpha) = (u32::from(sample), u32::from(alpha));
    // The cast loses nothing: a mean of numbers up to 255 is at most 255.
    ((sample * alpha + 255 * (255 - alpha) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transparent_samples_become_white_and_opaque_ones_stay() {
        for sample in [0, 1, 127, 255] {
            assert_eq!(blend(sample, 0), 255);
            assert_eq!(blend(sample, 255), sample);
        }
        assert_eq!(blend(0, 128), 127);
    }
}
