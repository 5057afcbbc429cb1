use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use super::parameter::one_of;
use crate::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};

/// The language of a page: of `lang`, else the first of `Accept-Language` that pages have, else Indonesian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// Indonesian.
    #[default]
    Indonesian,
    /// English.
    English,
}

impl Language {
    /// All languages of pages.
    pub const ALL: [Self; 2] = [Self::Indonesian, Self::English];

    /// Returns the code of the language (BCP 47).
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Indonesian => "id",
            Self::English => "en",
        }
    }

    fn of(request: &Request<'_>) -> Result<Self, Problem> {
        let invalid = |must| Problem::invalid(Source::Query, "lang", must);
        if let Some(lang) = Query::of(request).get("lang")? {
            return one_of(&lang, &Self::ALL).copied().map_err(invalid);
        }
        Ok(Self::accepted(request.headers().get("Accept-Language")))
    }

    /// Reads the lines of `Accept-Language` (RFC 9110 §12.5.4).
    fn accepted<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let ranges = lines.flat_map(|line| line.split(',')).filter_map(|range| {
            let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
            let weight: f32 = match parameters.trim().strip_prefix("q=") {
                Some(weight) => weight.trim().parse().ok()?,
                None => 1.0,
            };
            let primary = tag.trim().split('-').next()?.to_ascii_lowercase();
            let language = Self::ALL.into_iter().find(|language| language.code() == primary)?;
            (weight > 0.0).then_some((weight, language))
        });
        // The first of equals counts.
        let best = ranges.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(Self::default(), |(_, language)| language)
    }
}

impl AsRef<str> for Language {
    fn as_ref(&self) -> &str {
        self.code()
    }
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Language {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, Self::of(request))
    }
}

impl Part for Language {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let codes = Self::ALL.map(Self::code);
        operation.takes(Parameter::query(
            "lang",
            "The language of the page.",
            json!({ "type": "string", "enum": codes }),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_language_of_those_that_pages_have_counts() {
        for (line, expected) in [
            ("", Language::Indonesian),
            ("en", Language::English),
            ("en-GB,en;q=0.9,id;q=0.8", Language::English),
            ("id-ID,en;q=0.9", Language::Indonesian),
            ("de,fr;q=0.9", Language::Indonesian),
            ("de, EN;q=0.5", Language::English),
            ("en;q=0.1, id;q=0.2", Language::Indonesian),
            ("en;q=0", Language::Indonesian),
            ("en;q=x,,;q=1", Language::Indonesian),
        ] {
            assert_eq!(Language::accepted([line].into_iter()), expected, "{line}");
        }
        assert_eq!(Language::accepted(["de", "en"].into_iter()), Language::English, "several lines");
    }
}
