//! Numbers as decimal text: as `serde_json` and `Display` write them, byte for byte, and faster for the numbers maps
//! are made of.

use std::io::Write;

/// The three digits of 0 to 999 and how many of them are left of no use: leading zeros.
const DIGITS: [[u8; 4]; 1000] = {
    let mut table = [[0; 4]; 1000];
    let mut number = 0;
    while number < 1000 {
        let [hundreds, tens, ones] = [number / 100, number / 10 % 10, number % 10];
        let leading = if number < 10 { 2 } else { (number < 100) as u8 };
        table[number] = [b'0' + hundreds as u8, b'0' + tens as u8, b'0' + ones as u8, leading];
        number += 1;
    }
    table
};

/// The most bytes that [`put`] touches.
const INTEGER_ROOM: usize = 12;

/// The most bytes that [`Short::put`] touches.
const SHORT_ROOM: usize = 18;

/// Appends `[x,y]` for each pair, of which there are at most so many, with commas between them.
pub(super) fn pairs(most: usize, pairs: impl Iterator<Item = [i32; 2]>, out: &mut Vec<u8>) {
    const ROOM: usize = 2 * INTEGER_ROOM + 4;
    let start = out.len();
    // One look at the capacity for all, instead of one for each byte.
    out.resize(start + most * ROOM, 0);
    let mut at = start;
    for [x, y] in pairs {
        out[at] = b'[';
        at = put(x, out, at + 1);
        out[at] = b',';
        at = put(y, out, at + 1);
        out[at] = b']';
        out[at + 1] = b',';
        at += 2;
    }
    out.truncate(if at > start { at - 1 } else { at });
}

/// Appends an integer.
pub(super) fn integer(number: i32, out: &mut Vec<u8>) {
    let mut text = [0; INTEGER_ROOM];
    let end = put(number, &mut text, 0);
    out.extend_from_slice(&text[..end]);
}

/// Writes an integer from `at` on and answers where it ends; may write on what follows, up to [`INTEGER_ROOM`].
fn put(number: i32, out: &mut [u8], at: usize) -> usize {
    out[at] = b'-';
    let at = at + usize::from(number < 0);
    match number.unsigned_abs() {
        short @ 0..1_000_000 => put_short(short, out, at),
        long => {
            let at = put_short(long / 1_000_000, out, at);
            let at = put_three(long / 1_000 % 1_000, out, at);
            put_three(long % 1_000, out, at)
        }
    }
}

/// Writes a number below 1,000,000.
fn put_short(number: u32, out: &mut [u8], at: usize) -> usize {
    if number < 1_000 {
        put_small(number, out, at)
    } else {
        let at = put_small(number / 1_000, out, at);
        put_three(number % 1_000, out, at)
    }
}

/// Writes a number below 1,000.
fn put_small(number: u32, out: &mut [u8], at: usize) -> usize {
    let [hundreds, tens, ones, leading] = DIGITS[number as usize];
    let digits = u32::from_le_bytes([hundreds, tens, ones, 0]) >> (8 * leading);
    out[at..at + 4].copy_from_slice(&digits.to_le_bytes());
    at + 3 - usize::from(leading)
}

/// Writes the three digits of a number below 1,000.
fn put_three(number: u32, out: &mut [u8], at: usize) -> usize {
    out[at..at + 3].copy_from_slice(&DIGITS[number as usize][..3]);
    at + 3
}

/// Appends a number as JSON has it, the way `serde_json` writes it: `106.8`, `106.0`, `1e-7`.
pub(super) fn float(number: f64, out: &mut Vec<u8>) {
    match Short::of(number) {
        Some(short) => short.append(out, true),
        // What `serde_json` writes for what JSON cannot hold.
        None if !number.is_finite() => out.extend_from_slice(b"null"),
        None => out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes()),
    }
}

/// Appends `[x,y]`, each as [`float`] writes it.
pub(super) fn position(x: f64, y: f64, out: &mut Vec<u8>) {
    if let (Some(x), Some(y)) = (Short::of(x), Short::of(y)) {
        // All at once, which is what positions mostly take.
        let mut text = [0; 2 * SHORT_ROOM + 3];
        text[0] = b'[';
        let at = x.put(&mut text, 1, true);
        text[at] = b',';
        let at = y.put(&mut text, at + 1, true);
        text[at] = b']';
        out.extend_from_slice(&text[..=at]);
    } else {
        out.push(b'[');
        float(x, out);
        out.push(b',');
        float(y, out);
        out.push(b']');
    }
}

/// Appends a number as its `Display` writes it: `106.8`, `106`, `0.0000001`.
pub(super) fn plain_float(number: f64, out: &mut Vec<u8>) {
    match Short::of(number) {
        Some(short) => short.append(out, false),
        // Writing to a vector does not fail.
        None => drop(write!(out, "{number}")),
    }
}

/// A number that is a decimal with at most seven places after the point, as coordinates mostly are.
struct Short {
    negative: bool,
    whole: u32,
    /// The places after the point, all seven.
    places: u32,
}

impl Short {
    const ONE: f64 = 1e7;

    /// The number, when it is nearest to such a decimal of all numbers; from a thousandth to a million.
    ///
    /// Decimals of up to 15 digits have a number each, no two the same. So when the number is that of a decimal of 13
    /// digits or fewer, no other decimal as short reads back as it: this one is what every correct writer finds.
    fn of(number: f64) -> Option<Self> {
        let magnitude = number.abs();
        if !(0.001..1_000_000.0).contains(&magnitude) {
            return None;
        }
        let scaled = (magnitude * Self::ONE + 0.5) as i64;
        // Both are exact in an f64, so the quotient is the number nearest to the decimal.
        (scaled as f64 / Self::ONE == magnitude).then(|| Self {
            negative: number < 0.0,
            whole: (scaled / Self::ONE as i64) as u32,
            places: (scaled % Self::ONE as i64) as u32,
        })
    }

    fn append(&self, out: &mut Vec<u8>, point: bool) {
        let mut text = [0; SHORT_ROOM];
        let end = self.put(&mut text, 0, point);
        out.extend_from_slice(&text[..end]);
    }

    /// Writes the decimal from `at` on and answers where it ends; a whole number with `.0` if `point` says so.
    #[inline]
    fn put(&self, out: &mut [u8], at: usize, point: bool) -> usize {
        out[at] = b'-';
        let whole = put_short(self.whole, out, at + usize::from(self.negative));
        if self.places == 0 {
            out[whole..whole + 2].copy_from_slice(b".0");
            return if point { whole + 2 } else { whole };
        }
        out[whole] = b'.';
        let at = put_three(self.places / 10_000, out, whole + 1);
        let at = put_three(self.places / 10 % 1_000, out, at);
        out[at] = b'0' + (self.places % 10) as u8;
        let mut end = at + 1;
        while out[end - 1] == b'0' {
            end -= 1;
        }
        end
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

    fn assert_as_others_write_it(number: f64) {
        assert_eq!(text(|out| float(number, out)), serde_json::to_string(&number).unwrap());
        assert_eq!(text(|out| plain_float(number, out)), number.to_string());
    }

    #[test]
    fn numbers_at_the_edges_are_written_as_others_write_them() {
        for number in [
            0.0,
            -0.0,
            1.0,
            -7.0,
            0.001,
            0.000_999_9,
            0.123_456_7,
            0.123_456_78,
            999_999.999_999_9,
            999_999.999_999_95,
            1e6,
            106.0,
            106.8,
            -6.151_000_1,
            106.733_485_100_000_01,
            1e-7,
            1e21,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::NAN,
        ] {
            assert_as_others_write_it(number);
        }
        for number in
            [0, 9, 10, 99, 100, 999, 1_000, 999_999, 1_000_000, 999_999_999, 1_000_000_000, i32::MAX]
        {
            assert_eq!(text(|out| integer(number, out)), number.to_string());
            assert_eq!(text(|out| integer(-number, out)), (-number).to_string());
        }
        assert_eq!(text(|out| integer(i32::MIN, out)), i32::MIN.to_string());
        assert_eq!(text(|out| pairs(0, [].into_iter(), out)), "");
    }

    proptest! {
        #[test]
        fn any_number_is_written_as_others_write_it(number in any::<f64>()) {
            assert_as_others_write_it(number);
            let position = text(|out| position(number, 106.8, out));
            prop_assert_eq!(position, serde_json::to_string(&[number, 106.8]).unwrap());
        }

        #[test]
        fn coordinates_of_any_length_are_written_as_others_write_them(
            whole in -180i64..180, places in 0..1_000_000_000u32, digits in 0..10u32,
        ) {
            let number: f64 = format!("{whole}.{:01$}", places / 10u32.pow(9 - digits), digits as usize)
                .parse().unwrap();
            for number in [number, number.next_up(), number.next_down()] {
                assert_as_others_write_it(number);
                let position = text(|out| position(106.5, number, out));
                prop_assert_eq!(position, serde_json::to_string(&[106.5, number]).unwrap());
            }
        }

        #[test]
        fn steps_are_written_as_json(
            steps in prop::collection::vec([any::<i32>(), any::<i32>()], 1..20), shorter in 0..31u32,
        ) {
            let steps: Vec<[i32; 2]> = steps.iter().map(|&[x, y]| [x >> shorter, y]).collect();
            let written = format!("[{}]", text(|out| pairs(steps.len(), steps.iter().copied(), out)));
            prop_assert_eq!(written, serde_json::to_string(&steps).unwrap());
        }
    }
}
