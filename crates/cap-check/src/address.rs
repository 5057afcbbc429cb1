//! Addresses and other identifiers (RFC 3987).

use url::Url;

/// Whether a text is an IRI: a scheme, a colon, and no forbidden character.
pub(super) fn is_iri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.is_empty()
            && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
    })
}

/// Whether a text is an absolute `http` or `https` URL.
pub(super) fn is_web_address(text: &str) -> bool {
    is_iri(text)
        && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
