//! Numbers as decimal text, as `serde_json` and `Display` write them.

use std::io::Write;

pub(crate) fn integer(number: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

pub(crate) fn pair([x, y]: [i32; 2], out: &mut Vec<u8>) {
    out.push(b'[');
    integer(x, out);
    out.push(b',');
    integer(y, out);
    out.push(b']');
}

/// Appends a JSON number as `serde_json` does: `106.8`, `106.0`, `1e-7`.
pub(crate) fn float(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

pub(crate) fn position(x: f64, y: f64, out: &mut Vec<u8>) {
    out.push(b'[');
    float(x, out);
    out.push(b',');
    float(y, out);
    out.push(b']');
}

/// Appends a number without exponent, as the shortest text that parses to the same number: `106.8`, `106`, `0.0000001`. If there
/// are two shortest texts, `Display` may write the other one.
pub(crate) fn plain_float(number: f64, out: &mut Vec<u8>) {
    // Avoids `Display`, which is several times slower, and writes only whole, very small and very large numbers differently.
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    if text.contains('e') || !number.is_finite() {
        // Writing to a vector is infallible.
        drop(write!(out, "{number}"));
    } else {
        out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn assert_as_json(number: f64) {
        assert_eq!(text(|out| float(number, out)), serde_json::to_string(&number).unwrap());
    }

    fn assert_plain(number: f64) {
        let (plain, displayed) = (text(|out| plain_float(number, out)), number.to_string());
        if number.is_finite() {
            assert_eq!(plain.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()), "{plain}");
            assert!(!plain.contains('e') && !plain.ends_with(".0"), "{plain}");
            assert_eq!(plain.len(), displayed.len(), "{plain} and {displayed}");
        } else {
            assert_eq!(plain, displayed);
        }
    }

    #[test]
    fn extreme_numbers_equal_the_output_of_serde_json_and_display() {
        for number in [0.0, -0.0, 1.0, 0.001, 0.000_999_9, 1e-7, 1e21, f64::MAX, f64::NAN] {
            assert_as_json(number);
            assert_eq!(text(|out| plain_float(number, out)), number.to_string());
        }
        // This number has two shortest texts.
        assert_plain(f64::from_bits(0x42e8_2a43_d598_bec4));
        assert_eq!(text(|out| pair([i32::MIN, 10], out)), "[-2147483648,10]");
    }

    proptest! {
        #[test]
        fn any_number_round_trips(number in any::<f64>()) {
            assert_as_json(number);
            assert_plain(number);
            let position = text(|out| position(number, 106.8, out));
            prop_assert_eq!(position, serde_json::to_string(&[number, 106.8]).unwrap());
        }

        #[test]
        fn coordinates_of_any_length_round_trip(
            whole in -180i64..180, places in 0..1_000_000_000u32, digits in 0..10u32,
        ) {
            let number: f64 = format!("{whole}.{:01$}", places / 10u32.pow(9 - digits), digits as usize)
                .parse().unwrap();
            for number in [number, number.next_up(), number.next_down()] {
                assert_as_json(number);
                assert_plain(number);
                let position = text(|out| position(106.5, number, out));
                prop_assert_eq!(position, serde_json::to_string(&[106.5, number]).unwrap());
            }
        }
    }
}
