//! Addresses and other identifiers of RFC 3987.

use url::Url;

/// Returns whether a text is an IRI: a scheme, a colon and no character that is forbidden in one.
pub(super) fn is_iri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.is_empty()
            && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
    })
}

/// Returns whether a text is a whole address that a program can fetch.
pub(super) fn is_web(text: &str) -> bool {
    is_iri(text)
        && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
