use std::borrow::Cow;

use rocket::Request;
use rocket::http::RawStr;

use super::parameter::one_of;
use crate::http::error::{Problem, Source};

/// The query of a request. Guards read the parameters that they know from it; unknown parameters are ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'r>(&'r RawStr);

impl<'r> Query<'r> {
    /// Makes a query from text.
    #[must_use]
    pub(crate) fn new(text: &'r str) -> Self {
        Self(text.into())
    }

    /// Returns the query of a request; empty if it has none.
    #[must_use]
    pub(crate) fn for_request(request: &'r Request<'_>) -> Self {
        Self::new(request.uri().query().map_or("", |query| query.as_str()))
    }

    /// Returns the decoded value of a parameter; `None` if it is absent or empty.
    ///
    /// # Errors
    ///
    /// 400 if it is given more than once or is not UTF-8.
    pub(crate) fn get(self, name: &str) -> Result<Option<Cow<'r, str>>, Problem> {
        let mut values = self.0.split('&').map(|pair| pair.split_at_byte(b'=')).filter_map(|(key, value)| {
            let is_coded = key.as_str().contains(['%', '+']);
            let same = key == name || is_coded && key.url_decode().is_ok_and(|key| key == name);
            same.then_some(value)
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

    /// Returns the value of a required parameter.
    ///
    /// # Errors
    ///
    /// 400 if it is absent or empty, and as [`get`](Self::get).
    pub(crate) fn require(self, name: &str) -> Result<Cow<'r, str>, Problem> {
        self.get(name)?.ok_or_else(|| Problem::invalid(Source::Query, name, "is required"))
    }

    /// Returns the value of a parameter, which must be one of the `allowed`; `None` if it is absent or empty.
    ///
    /// # Errors
    ///
    /// 400 if it is none of them, and as [`get`](Self::get).
    pub(crate) fn one_of<'a, T: AsRef<str>>(
        self,
        name: &str,
        allowed: &'a [T],
    ) -> Result<Option<&'a T>, Problem> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        one_of(&value, allowed).map(Some).map_err(|must| Problem::invalid(Source::Query, name, must))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_decoded_whatever_surrounds_it() {
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
    fn a_repeated_or_unreadable_parameter_is_refused() {
        for text in ["city=a&city=a", "city=&city=a", "city=a&%63ity=b", "city=%FF"] {
            assert!(Query::new(text).get("city").is_err(), "{text}");
            assert!(Query::new(text).require("city").is_err(), "{text}");
        }
        assert!(Query::new("city=").require("city").is_err());
    }
}
