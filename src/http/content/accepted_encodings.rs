use super::ContentEncoding;

/// The weights of the codings in an `Accept-Encoding` (RFC 9110 §12.5.3), in thousandths; 0 means not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedEncodings([u16; ContentEncoding::ALL.len()]);

impl AcceptedEncodings {
    /// The weight of `identity` if the header does not list it: acceptable, but any other coding is preferred.
    const IMPLIED_IDENTITY: u16 = 1;

    /// Parses the lines of the header. Invalid entries are ignored; the first of repeated entries counts.
    #[must_use]
    pub fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut weights, mut wildcard) = ([None; ContentEncoding::ALL.len()], None);
        let entries = lines.into_iter().flat_map(|line| line.split(','));
        for (name, weight) in entries.filter_map(entry) {
            let slot = match position(name) {
                Some(position) => &mut weights[position],
                None if name == "*" => &mut wildcard,
                None => continue,
            };
            slot.get_or_insert(weight);
        }
        Self(ContentEncoding::ALL.map(|coding| {
            let wildcard = match coding {
                // `*` applies to identity only if the weight of `*` is 0.
                ContentEncoding::Identity => {
                    wildcard.filter(|&weight| weight == 0).or(Some(Self::IMPLIED_IDENTITY))
                }
                _ => wildcard,
            };
            weights[coding as usize].or(wildcard).unwrap_or(0)
        }))
    }

    #[must_use]
    pub(crate) fn weight(self, coding: ContentEncoding) -> u16 {
        self.0[coding as usize]
    }
}

/// Returns the position in [`ContentEncoding::ALL`]. `x-gzip` is another name for gzip (§8.4.1.3).
fn position(name: &str) -> Option<usize> {
    let name = if name.eq_ignore_ascii_case("x-gzip") { ContentEncoding::Gzip.name() } else { name };
    ContentEncoding::ALL.iter().position(|coding| coding.name().eq_ignore_ascii_case(name))
}

/// Returns the coding and its weight in thousandths; `None` if the entry is malformed.
fn entry(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    match parts.next() {
        None => Some((name, 1000)),
        Some(weight) => {
            let weight = weight.strip_prefix("q=").or_else(|| weight.strip_prefix("Q="))?;
            Some((name, thousandths(weight)?))
        }
    }
}

/// Parses a weight (§12.4.2), 0 to 1 with up to three decimals, into thousandths.
pub(crate) fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: u16 = if digits { format!("{fraction:0<3}").parse().ok()? } else { return None };
    match (whole, fraction) {
        ("0", fraction) => Some(fraction),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_parsed_as_rfc_9110_defines_them() {
        let plain = AcceptedEncodings::IMPLIED_IDENTITY;
        for (lines, [brotli, gzip, identity]) in [
            (&[][..], [0, 0, plain]),
            (&["gzip, deflate, br, zstd"], [1000, 1000, plain]),
            (&["gzip", "br;q=0.5"], [500, 1000, plain]),
            (&["GZIP ; Q=0.123,Br"], [1000, 123, plain]),
            (&["x-gzip"], [0, 1000, plain]),
            (&["*"], [1000, 1000, plain]),
            (&["*;q=0"], [0, 0, 0]),
            (&["*;q=0.2, gzip;q=0"], [200, 0, plain]),
            (&["identity;q=0, br"], [1000, 0, 0]),
            (&["identity, *;q=0"], [0, 0, 1000]),
            (&["gzip;q=0, gzip;q=1"], [0, 0, plain]),
            (&["gzip;q=2, br;q=-1"], [0, 0, plain]),
            (&["gzip;q=0.1234, br;x=1, ;q=1, ,"], [0, 0, plain]),
            (&["gzip;q=, br;q=0.0"], [0, 0, plain]),
        ] {
            let expected = AcceptedEncodings([identity, brotli, gzip]);
            assert_eq!(AcceptedEncodings::new(lines.iter().copied()), expected, "{lines:?}");
        }
    }
}
