/// What the address of an image on the web is, in words.
pub const WEB_ADDRESS: &str =
    "an http or https address of at most 2048 characters without control characters";

/// The longest address, in characters.
pub(crate) const LONGEST_WEB_ADDRESS: usize = 2048;

/// Whether a text is [`WEB_ADDRESS`]. Browsers run or open what other schemes hold, such as `javascript:` and `data:`.
#[must_use]
pub fn is_web_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let on_the_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let names_a_host = rest.chars().next().is_some_and(|first| !"/?# ".contains(first));
    let fits = text.chars().count() <= LONGEST_WEB_ADDRESS && !text.contains(char::is_control);
    on_the_web && names_a_host && fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_of_a_bounded_length_are_addresses_on_the_web() {
        let longest = format!("http://a/{}", "☔".repeat(LONGEST_WEB_ADDRESS - 9));
        for (text, expected) in [
            ("http://myimg", true),
            ("HTTPS://example.org/a b.jpg?c=d#e", true),
            (&longest, true),
            (&format!("{longest}x"), false),
            ("", false),
            ("myimg", false),
            ("http:myimg", false),
            ("http://", false),
            ("http:///a", false),
            ("http://?a", false),
            (" http://a", false),
            ("http://a\n", false),
            ("http://a\u{85}", false),
            ("data:text/html,<script>alert(1)</script>", false),
            ("javascript://example.org/%0aalert(1)", false),
            ("java\nscript:alert(1)//http://a", false),
            ("ftp://a/b.jpg", false),
        ] {
            assert_eq!(is_web_address(text), expected, "{text:?}");
        }
    }
}
