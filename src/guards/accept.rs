use std::str::FromStr;
use std::sync::Arc;

use rocket::Request;
use rocket::http::MediaType;
use rocket::request::{FromRequest, Outcome};

use crate::formats::Format;
use crate::http::content::thousandths;
use crate::http::error::Problem;
use crate::openapi::{Interface, Operation, Part};

/// The media ranges of an `Accept` (RFC 9110 §12.5.1), each with a weight in thousandths. Replaces Rocket's `Accept`, which reads
/// only the first line, drops all ranges if one is invalid, and ignores a weight that is not the first parameter.
#[derive(Debug)]
pub(super) struct Accept(Vec<(MediaType, u16)>);

impl Accept {
    /// Parses the lines of the header. Invalid ranges are ignored.
    pub(super) fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        Self(lines.into_iter().flat_map(ranges).filter_map(range).collect())
    }

    /// Returns the format with the highest weight, the first if several have it; `None` if the client accepts none.
    pub(super) fn preferred<'f>(
        &self,
        formats: impl Iterator<Item = &'f Arc<dyn Format>>,
    ) -> Option<&'f Arc<dyn Format>> {
        let names =
            |format: &'f Arc<dyn Format>| format.also_accepted().iter().copied().chain([format.media_type()]);
        let weighed = formats.map(|format| (self.weight(names(format)), format));
        let acceptable = weighed.filter(|(weight, _)| *weight > 0);
        let best = acceptable.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, format)| format)
    }

    pub(super) fn prefers(&self, one: &dyn Format, other: &dyn Format) -> bool {
        self.weight([one.media_type()]) > self.weight([other.media_type()])
    }

    /// Returns the weight of the most specific range that matches one of these media types. If several ranges are equally
    /// specific, the range that matches the earliest media type wins, then the earliest range. Callers list the additional media
    /// types of a format first, because these distinguish it from other formats.
    pub(super) fn weight<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> u16 {
        match &self.0[..] {
            // The two most frequent cases, no header and `*/*`, need no parsing.
            [] => return 0,
            [(range, weight)] if *range == MediaType::Any && range.params().all(|(key, _)| key == "q") => {
                return *weight;
            }
            _ => {}
        }
        let names = names.into_iter().filter_map(|name| MediaType::from_str(name).ok());
        let matching = names.flat_map(|name| {
            let matching =
                move |(range, weight): &(MediaType, u16)| Some((specificity(range, &name)?, *weight));
            self.0.iter().filter_map(matching)
        });
        let best = matching.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(0, |(_, weight)| weight)
    }
}

fn ranges(line: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    line.split(move |c| {
        let literal = std::mem::take(&mut escaped);
        match c {
            '"' if !literal => quoted = !quoted,
            '\\' if quoted && !literal => escaped = true,
            _ => {}
        }
        c == ',' && !quoted
    })
}

fn range(text: &str) -> Option<(MediaType, u16)> {
    let range = MediaType::from_str(text.trim()).ok()?;
    let weight = range.param("q").map_or(Some(1000), thousandths)?;
    Some((range, weight))
}

/// Returns the specificity of a range; `None` if it does not match. `charset=utf-8` in a range also matches a type without a
/// charset, because every format writes UTF-8.
fn specificity(range: &MediaType, name: &MediaType) -> Option<(u8, usize)> {
    let kind = match (range.top().as_str(), range.sub().as_str()) {
        ("*", "*") => 0,
        (_, "*") if range.top() == name.top() => 1,
        _ if range == name => 2,
        _ => return None,
    };
    let mut count = 0;
    for (key, value) in range.params().filter(|(key, _)| *key != "q") {
        let name_value = name.params().find(|(other, _)| *other == key).map(|(_, value)| value);
        let name_value = name_value.or((key == "charset").then_some("utf-8"))?;
        if !name_value.eq_ignore_ascii_case(value) {
            return None;
        }
        count += 1;
    }
    Some((kind, count))
}

/// Whether a client prefers HTML to JSON according to its `Accept`, as browsers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantsPage(pub bool);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for WantsPage {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let accept = Accept::new(request.headers().get("Accept"));
        Outcome::Success(Self(accept.weight(["text/html"]) > accept.weight(["application/json"])))
    }
}

impl Part for WantsPage {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// Whether a client prefers `OpenMetrics` to Prometheus's text format according to its `Accept`, as Prometheus does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantsOpenMetrics(pub bool);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for WantsOpenMetrics {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let accept = Accept::new(request.headers().get("Accept"));
        let [open, plain] = ["application/openmetrics-text; version=1.0.0", "text/plain; version=0.0.4"]
            .map(|name| accept.weight([name]));
        Outcome::Success(Self(open > plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{alerts, builtin, cap, topojson};
    use crate::model::LayerKind;

    fn preferred(lines: &[&str]) -> Option<String> {
        let notices = alerts::Notices::new(alerts::Options::default(), cap::Options::default());
        let formats = builtin(topojson::Options::default(), cap::Options::default(), notices);
        let accept = Accept::new(lines.iter().copied());
        let formats = formats.iter().filter(|format| format.supports(LayerKind::Floods));
        accept.preferred(formats).map(|format| format.name().to_owned())
    }

    #[test]
    fn the_first_format_with_the_highest_weight_is_preferred() {
        for (lines, expected) in [
            (&["application/*"][..], Some("topojson")),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], Some("topojson")),
            (&["application/geo+json, application/json;q=0.9"], Some("geojson")),
            (&["application/geo+json;q=0.9, application/json"], Some("topojson")),
            (&["Application/JSON; Charset=UTF-8"], Some("topojson")),
            (&["application/json;charset=latin1"], None),
            (&["application/topo+json, application/geo+json;q=0.9"], Some("topojson")),
            (&["application/atom+xml;charset=utf-8;q=0.3, */*;q=0.2"], Some("cap")),
            (&["application/atom+xml;q=0.5;charset=utf-8, application/atom+xml;q=0, */*;q=0.2"], Some("cap")),
            (&["application/atom+xml", "*/*;q=0.999"], Some("cap")),
            (&["*/*;q=0.999", "application/atom+xml"], Some("cap")),
            (&["application/json;q=0, */*"], Some("cap")),
            (&["application/geo+json;q=0, application/json;q=0, */*;q=0.001"], Some("cap")),
            (&["application/*;q=0, application/atom+xml"], Some("cap")),
            (&["application/atom+xml;q=0"], None),
            (&["*/json"], None),
        ] {
            assert_eq!(preferred(lines).as_deref(), expected, "{lines:?}");
        }
    }

    #[test]
    fn invalid_ranges_are_ignored() {
        for rubbish in [
            "",
            "json",
            "a/b;q",
            "application/json;q=2",
            "application/json;q=nan",
            "application/json;q=0.1234",
            "\"application/json",
            "application/json;a=\"x,application/json\";",
        ] {
            assert_eq!(preferred(&[rubbish]), None, "{rubbish}");
            assert_eq!(preferred(&["application/atom+xml", rubbish]).as_deref(), Some("cap"), "{rubbish}");
        }
        let quoted = r#"a/b;c="\",application/json, \\", application/atom+xml"#;
        assert_eq!(preferred(&[quoted]).as_deref(), Some("cap"));
    }
}
