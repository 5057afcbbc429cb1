use std::borrow::Cow;

use rocket::Request;
use rocket::http::RawStr;

use crate::error::{Problem, Source};

/// The query of a request, from which guards take the parameters they know. Unknown parameters are ignored.
#[derive(Clone, Copy, Debug)]
pub struct Query<'r>(&'r RawStr);

impl<'r> Query<'r> {
    /// The query of a request; empty when it has none.
    #[must_use]
    pub fn of(request: &'r Request<'_>) -> Self {
        Self(request.uri().query().map_or(RawStr::new(""), |query| query.as_str().into()))
    }

    /// The value of a parameter; `None` when it is absent or empty.
    ///
    /// # Errors
    ///
    /// When it is given more than once, or is not UTF-8.
    pub fn get(self, name: &str) -> Result<Option<Cow<'r, str>>, Problem> {
        let mut values = self.0.split('&').map(|pair| pair.split_at_byte(b'=')).filter_map(|(key, value)| {
            let same = key.url_decode().is_ok_and(|key| key == name);
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

    /// The value of a parameter that must be given.
    ///
    /// # Errors
    ///
    /// When it is absent or empty, and as [`get`](Self::get).
    pub fn require(self, name: &str) -> Result<Cow<'r, str>, Problem> {
        self.get(name)?.ok_or_else(|| Problem::invalid(Source::Query, name, "is required"))
    }

    /// The value of a parameter that must be one of the `allowed`.
    ///
    /// # Errors
    ///
    /// When it is none of them, and as [`get`](Self::get).
    pub fn one_of<'a, T: AsRef<str>>(self, name: &str, allowed: &'a [T]) -> Result<Option<&'a T>, Problem> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let found = allowed.iter().find(|allowed| allowed.as_ref() == value);
        found.map(Some).ok_or_else(|| {
            let allowed: Vec<_> = allowed.iter().map(AsRef::as_ref).collect();
            let must = format!("must be one of [{}]", allowed.join(", "));
            Problem::invalid(Source::Query, name, must)
        })
    }
}
