use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::Query;
use super::parameter::one_of;
use crate::config::Config;
use crate::country::Texts;
use crate::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};

/// The language of a page: of `lang`, else the first of `Accept-Language` that the country has, else the country's own.
#[derive(Clone, Debug)]
pub(crate) struct Language(Arc<Texts>);

impl Language {
    /// Returns the code of the language (BCP 47).
    #[must_use]
    pub(crate) fn code(&self) -> &str {
        self.0.code()
    }

    /// Returns the texts in the language.
    pub(crate) fn texts(&self) -> &Texts {
        &self.0
    }

    /// Returns the language with this code, if the country has it.
    pub(crate) fn named(code: &str, config: &Config) -> Option<Self> {
        let languages = config.country.data().languages();
        languages.iter().find(|texts| texts.code() == code).map(|texts| Self(Arc::clone(texts)))
    }

    /// Returns the language that a reader gets also if the address names one that the country does not have.
    pub(crate) fn of_reader(request: &Request<'_>, config: &Config) -> Self {
        let country = config.country.data();
        let codes: Vec<_> = country.languages().iter().map(|texts| texts.code()).collect();
        let named = Query::of(request).get("lang").ok().flatten();
        let named = named.and_then(|lang| Self::named(&lang, config));
        let preferred = || Self::named(accepted(request.headers().get("Accept-Language"), &codes)?, config);
        named.or_else(preferred).unwrap_or_else(|| Self(Arc::clone(country.main())))
    }

    pub(crate) fn of(request: &Request<'_>) -> Result<Self, Problem> {
        let config = request.rocket().state::<Config>();
        let country = config.ok_or_else(|| Problem::internal("there is no configuration"))?.country.data();
        let invalid = |must| Problem::invalid(Source::Query, "lang", must);
        let languages = country.languages();
        let codes: Vec<_> = languages.iter().map(|texts| texts.code()).collect();
        let code = match Query::of(request).get("lang")? {
            Some(lang) => Some(*one_of(&lang, &codes).map_err(invalid)?),
            None => accepted(request.headers().get("Accept-Language"), &codes),
        };
        let texts = languages.iter().find(|texts| Some(texts.code()) == code);
        Ok(Self(Arc::clone(texts.unwrap_or(country.main()))))
    }
}

/// Returns the first of the `known` languages that lines of `Accept-Language` prefer (RFC 9110 §12.5.4).
fn accepted<'a, 'k>(lines: impl Iterator<Item = &'a str>, known: &[&'k str]) -> Option<&'k str> {
    let ranges = lines.flat_map(|line| line.split(',')).filter_map(|range| {
        let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight: f32 = match parameters.trim().strip_prefix("q=") {
            Some(weight) => weight.trim().parse().ok()?,
            None => 1.0,
        };
        let primary = tag.trim().split('-').next()?.to_ascii_lowercase();
        let language = known.iter().find(|language| **language == primary)?;
        (weight > 0.0).then_some((weight, *language))
    });
    // The first of equals counts.
    let best = ranges.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, language)| language)
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Language {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, Self::of(request))
    }
}

impl Part for Language {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let codes: Vec<_> =
            interface.config.country.data().languages().iter().map(|texts| texts.code()).collect();
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
        let accepted = |lines: &[&str]| accepted(lines.iter().copied(), &["id", "en"]);
        for (line, expected) in [
            ("", None),
            ("en", Some("en")),
            ("en-GB,en;q=0.9,id;q=0.8", Some("en")),
            ("id-ID,en;q=0.9", Some("id")),
            ("de,fr;q=0.9", None),
            ("de, EN;q=0.5", Some("en")),
            ("en;q=0.1, id;q=0.2", Some("id")),
            ("en;q=0", None),
            ("en;q=x,,;q=1", None),
        ] {
            assert_eq!(accepted(&[line]), expected, "{line}");
        }
        assert_eq!(accepted(&["de", "en"]), Some("en"), "several lines");
    }
}
