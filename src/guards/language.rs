use std::sync::Arc;

use rocket::Request;
use serde_json::json;

use super::{Query, guard};
use crate::config::Config;
use crate::data::country::Translations;
use crate::http::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};

/// The language of a page: `lang`, else the country's language that `Accept-Language` prefers, else the country's main language.
/// Accepts the codes of [`Country::language`](crate::data::country::Country::language).
#[derive(Clone, Debug)]
pub(crate) struct Language(Arc<Translations>);

impl Language {
    #[must_use]
    pub(crate) fn code(&self) -> &str {
        self.0.code()
    }

    pub(crate) fn translations(&self) -> &Translations {
        &self.0
    }

    pub(crate) fn from_tag(tag: &str, config: &Config) -> Option<Self> {
        config.country.data().language(tag).map(|texts| Self(Arc::clone(texts)))
    }

    /// Returns the language of a request, ignoring a `lang` that the country does not have.
    pub(crate) fn for_request_or_default(request: &Request<'_>, config: &Config) -> Self {
        let requested = Query::for_request(request).get("lang").ok().flatten();
        let requested = requested.and_then(|lang| Self::from_tag(&lang, config));
        requested.unwrap_or_else(|| Self::preferred(request, config))
    }

    pub(crate) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let config = request.rocket().state::<Config>();
        let config = config.ok_or_else(|| Problem::internal("there is no configuration"))?;
        match Query::for_request(request).get("lang")? {
            Some(lang) => {
                parse_language(&lang, config).map_err(|rule| Problem::invalid(Source::Query, "lang", rule))
            }
            None => Ok(Self::preferred(request, config)),
        }
    }

    fn preferred(request: &Request<'_>, config: &Config) -> Self {
        let lines = request.headers().get("Accept-Language");
        let preferred = preferred(lines, |tag| Self::from_tag(tag, config));
        preferred.unwrap_or_else(|| Self(Arc::clone(config.country.data().main())))
    }
}

pub(super) fn parse_language(lang: &str, config: &Config) -> Result<Language, String> {
    Language::from_tag(lang, config).ok_or_else(|| format!("must be one of [{}]", codes(config).join(", ")))
}

pub(super) fn codes(config: &Config) -> Vec<&str> {
    config.country.data().languages().iter().map(|texts| texts.code()).collect()
}

/// Returns the language with the highest weight in `Accept-Language` (RFC 9110 §12.5.4).
fn preferred<'a, L>(lines: impl Iterator<Item = &'a str>, find: impl Fn(&str) -> Option<L>) -> Option<L> {
    let ranges = lines.flat_map(|line| line.split(',')).filter_map(|range| {
        let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight = parameters.trim().strip_prefix("q=").or(parameters.trim().strip_prefix("Q="));
        let weight: f32 = weight.map_or(Some(1.0), |weight| weight.trim().parse().ok())?;
        let language = find(tag)?;
        (weight > 0.0).then_some((weight, language))
    });
    // If several weights are equal, the first range wins.
    let best = ranges.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, language)| language)
}

guard!(Language, |request| Self::for_request(request));

impl Part for Language {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let schema = json!({ "type": "string", "enum": codes(interface.config) });
        operation.parameter(Parameter::query(
            "lang",
            "The language of the texts; without it the one that `Accept-Language` prefers.",
            schema,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::country::Country;

    #[test]
    fn the_preferred_available_language_is_chosen() {
        let country = Country::built_in();
        let named = |tag: &str| country.language(tag).map(|texts| texts.code());
        let accepted = |lines: &[&str]| preferred(lines.iter().copied(), named);
        for (line, expected) in [
            ("", None),
            ("en-GB,en;q=0.9,id;q=0.8", Some("en")),
            ("id-ID,en;q=0.9", Some("id")),
            ("de, EN;q=0.5", Some("en")),
            ("en;q=0.1, id;q=0.2", Some("id")),
            ("en;q=0", None),
            ("en;q=x,,;q=1", None),
            ("en;q=0.5, in_ID;Q=0.8", Some("id")),
        ] {
            assert_eq!(accepted(&[line]), expected, "{line}");
        }
        assert_eq!(accepted(&["de", "en"]), Some("en"), "several lines");
    }
}
