//! Rules for the `image_url` of a report.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Serialize, Serializer};
use url::Url;

use super::{CardId, Report};

/// Describes the valid addresses of images, for error texts.
pub const WEB_ADDRESS: &str =
    "an http or https address of at most 2048 characters without control characters, user name and password";

/// The maximum length of a web address, in characters.
pub(crate) const LONGEST_WEB_ADDRESS: usize = 2048;

/// Returns whether a text matches [`WEB_ADDRESS`]. Rejects schemes such as `javascript:`, which could run code or open programs.
#[must_use]
pub fn is_web_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let on_the_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    // If there is no host here, `Url::parse` would take a later part as the host.
    let names_a_host = rest.chars().next().is_some_and(|first| !"/\\?# ".contains(first));
    let fits = text.chars().count() <= LONGEST_WEB_ADDRESS && !text.contains(char::is_control);
    let names_nobody = |url: Url| url.username().is_empty() && url.password().is_none();
    on_the_web && names_a_host && fits && Url::parse(text).is_ok_and(names_nobody)
}

pub(crate) const PHOTO: &str = ".jpg";

/// Returns whether a text is the name of a photo published by this service: `<card>.jpg` with letters, digits, `-`, `_` and `=`.
/// Stores and data sets contain such names, because the address of photos can change. False for [web addresses](is_web_address).
#[must_use]
pub fn is_photo_name(text: &str) -> bool {
    let card = text.strip_suffix(PHOTO).unwrap_or_default();
    !card.is_empty() && card.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte))
}

const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Returns the part of a file name that identifies a card: its identifier, with `=` and two hexadecimal digits for each byte
/// except letters, digits, `-` and `_`. Different cards have different parts, and each part is safe as a path segment.
pub(crate) fn card_part(card: &CardId) -> String {
    utf8_percent_encode(card.as_str(), ESCAPED).to_string().replace('%', "=")
}

/// Returns the name of the photo of a card.
#[must_use]
pub fn photo_name(card: &CardId) -> String {
    card_part(card) + PHOTO
}

/// Returns the name of the report's photo; `None` without an image, or if the image is on another server.
pub(crate) fn shown_photo(report: &Report) -> Option<&str> {
    report.content.image_url.as_deref().filter(|url| is_photo_name(url))
}

/// An `image_url` as in responses: a name of a photo gets the prefix `photos`, a web address stays unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageUrl<'a> {
    pub(crate) stored: &'a str,
    /// The address of photos without a trailing slash. If empty, names get no prefix.
    pub(crate) photos: &'a str,
}

impl fmt::Display for ImageUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stored, photos } = self;
        if photos.is_empty() || !is_photo_name(stored) {
            return f.write_str(stored);
        }
        write!(f, "{photos}/{stored}")
    }
}

impl Serialize for ImageUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_have_http_or_https_and_a_bounded_length() {
        let longest = format!("http://a/{}", "☔".repeat(LONGEST_WEB_ADDRESS - 9));
        for (text, expected) in [
            ("http://myimg", true),
            ("HTTPS://example.org/a b.jpg?c=d#e", true),
            (&longest, true),
            (&format!("{longest}x"), false),
            ("myimg", false),
            ("http://", false),
            ("http://?a", false),
            (" http://a", false),
            ("http://a\u{85}", false),
            ("java\nscript:alert(1)//http://a", false),
            ("http://[", false),
            ("http://[::1]/a.jpg", true),
            ("http://\\a/", false),
            ("https://user@host/", false),
            ("https://:pass@host/", false),
            ("https://host/@user?a=b@c", true),
        ] {
            assert_eq!(is_web_address(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_of_photos_get_an_address_and_other_urls_stay_unchanged() {
        for (stored, shown) in [
            ("a-b_C=2E.jpg", "https://a/b/a-b_C=2E.jpg"),
            ("http://myimg", "http://myimg"),
            ("../abcdefg.jpg", "../abcdefg.jpg"),
            (".jpg", ".jpg"),
            ("abcdefg.png", "abcdefg.png"),
            ("", ""),
        ] {
            let url = |photos| serde_json::to_value(ImageUrl { stored, photos }).unwrap();
            assert_eq!(url("https://a/b"), shown, "{stored:?}");
            assert_eq!(url(""), stored, "{stored:?}");
        }
    }
}
