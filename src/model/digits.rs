/// The number of some decimal digits and nothing else; the parser of numbers alone would take a leading plus sign.
#[must_use]
pub fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}
