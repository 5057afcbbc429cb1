use std::borrow::Cow;

use rocket::Request;
use rocket::http::RawStr;

use super::parameter::one_of;
use crate::http::error::{Problem, Source};

/// The query of a request. Unknown parameters are ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'r>(&'r RawStr);

impl<'r> Query<'r> {
    #[must_use]
    pub(crate) fn new(text: &'r str) -> Self {
        Self(text.into())
    }

    #[must_use]
    pub(crate) fn for_request(request: &'r Request<'_>) -> Self {
        Self::new(request.uri().query().map_or("", |query| query.as_str()))
    }

    /// Returns the decoded value of a parameter; `None` if it is absent or empty. A value that is repeated or not UTF-8 is 400.
    pub(crate) fn get(self, name: &str) -> Result<Option<Cow<'r, str>>, Problem> {
        let mut values = self.0.split('&').map(|pair| pair.split_at_byte(b'=')).filter_map(|(key, value)| {
            let is_coded = key.as_str().contains(['%', '+']);
            let matches = key == name || is_coded && key.url_decode().is_ok_and(|key| key == name);
            matches.then_some(value)
        });
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Problem::invalid(Source::Query, name, "must be given once"));
        }
        let value = value
            .url_decode()
            .map_err(|_| Problem::invalid(Source::Query, name, "must be percent-encoded UTF-8"))?;
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    pub(crate) fn require(self, name: &str) -> Result<Cow<'r, str>, Problem> {
        self.get(name)?.ok_or_else(|| Problem::invalid(Source::Query, name, "is required"))
    }

    /// Returns the value of a parameter, which must be one of the `allowed`; `None` if it is absent or empty.
    pub(crate) fn one_of<'a, T: AsRef<str>>(
        self,
        name: &str,
        allowed: &'a [T],
    ) -> Result<Option<&'a T>, Problem> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        one_of(&value, allowed).map(Some).map_err(|rule| Problem::invalid(Source::Query, name, rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_and_decoded() {
        for (text, expected) in [
            ("city=jbd", Some("jbd")),
            ("%63ity=j%62d", Some("jbd")),
            ("city=a+b%2Bc", Some("a b+c")),
            ("city=a=b", Some("a=b")),
            ("city=%E2%98%94", Some("☔")),
            ("City=jbd", None),
            ("city=", None),
            ("&&=&%FF=x", None),
        ] {
            assert_eq!(Query::new(text).get("city").unwrap().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn repeated_and_undecodable_parameters_are_rejected() {
        for text in ["city=a&city=a", "city=&city=a", "city=a&%63ity=b", "city=%FF"] {
            assert!(Query::new(text).get("city").is_err(), "{text}");
            assert!(Query::new(text).require("city").is_err(), "{text}");
        }
        assert!(Query::new("city=").require("city").is_err());
    }
}
