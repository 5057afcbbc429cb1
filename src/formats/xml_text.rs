//! Text as XML has it.

use std::borrow::Cow;

/// The text with the characters no XML 1.0 document can hold (§2.2, `Char`) replaced.
pub(super) fn allowed(text: &str) -> Cow<'_, str> {
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
