use std::borrow::Cow;

/// Replaces the characters that XML 1.0 documents cannot contain (§2.2, `Char`) by U+FFFD.
pub(super) fn sanitize(text: &str) -> Cow<'_, str> {
    let forbidden = |c: char| match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c < ' ',
    };
    if text.contains(forbidden) {
        Cow::Owned(text.replace(forbidden, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
