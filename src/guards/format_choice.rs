use std::marker::PhantomData;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::{Map, Value, json};

use super::accept::Accept;
use super::{Query, guard, managed};
use crate::formats::{Container, Format, FormatRegistry, bare};
use crate::http::error::{Problem, Source};
use crate::http::fairings::BareAddresses;
use crate::model::LayerKind;
use crate::openapi::{Interface, Operation, Parameter, Part, layer_schema};
use crate::schema;
use crate::schema::resources::MapResource;

const GEOFORMAT_DESCRIPTION: &str =
    "The format; without it the first of `format`, else the one that `Accept` prefers.";

/// The format chosen by the query parameters `format` (the container) and `geoformat` (the name of the format).
///
/// Each parameter implies the other. If both are absent, the header `Accept` decides; of formats with equal weight, the
/// configured default wins. If the header accepts none of the formats, the default is used, as existing clients expect.
///
/// A format that also exists without the envelope ([`Format::without_envelope`]) is sent that way if `Accept` prefers that media type.
///
/// The route is also served at its path with the name of a format, such as `/floods.geojson`. Then that name chooses the format,
/// and the document comes without the envelope; `format` and `geoformat` must not contradict it.
#[derive(Clone, Debug)]
pub struct FormatChoice<R> {
    /// The format, which supports the layers of the resource.
    pub format: Arc<dyn Format>,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: MapResource> FromRequest<'r> for FormatChoice<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let format = managed::<FormatRegistry>(request).and_then(|registry| {
            let accept = || Accept::new(request.headers().get("Accept"));
            let formats: Vec<_> = registry.for_kind(R::DESCRIPTION.kind).collect();
            if let Some(name) = BareAddresses::format(request) {
                return format_in_path(Query::for_request(request), name, &formats);
            }
            let format = choose(Query::for_request(request), accept, &formats)?;
            Ok(format.without_envelope().filter(|bare| accept().prefers(&**bare, &*format)).unwrap_or(format))
        });
        Problem::outcome(request, format.map(|format| Self { format, resource: PhantomData }))
    }
}

impl<R: MapResource> Part for FormatChoice<R> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let kind = R::DESCRIPTION.kind;
        let formats: Vec<_> = interface.formats.for_kind(kind).collect();
        let description = format!(
            "{GEOFORMAT_DESCRIPTION} The name of a format after the path (`/floods.geojson`) chooses it too, without the envelope."
        );
        describe_parameters(&formats, &description, operation);
        operation.formats = formats.iter().map(|format| format.name().to_owned()).collect();
        let schema = |format: &dyn Format| schema::reference(&layer_schema(kind, format));
        describe_responses(operation, formats.iter().map(|format| (&***format, schema(&***format))), kind);
        for format in formats {
            if let Some(bare) = format.without_envelope() {
                operation.response(bare.media_type(), schema(&**format));
            }
        }
    }
}

/// The format for one alert: the document that the feeds link to, or any other enabled format except the feeds. Chosen like
/// [`FormatChoice`]. A path that ends in [`DOCUMENT`] always returns the document, because some readers of feeds fetch only links
/// with this ending.
#[derive(Clone, Debug)]
pub(crate) struct AlertFormat(pub Arc<dyn Format>);

guard!(AlertFormat, |request| {
    managed::<FormatRegistry>(request)
        .and_then(|registry| {
            if BareAddresses::format(request) == Some(DOCUMENT) {
                return alert_document(registry, Query::for_request(request));
            }
            let formats = alert_formats(registry);
            let accept = || Accept::new(request.headers().get("Accept"));
            choose(Query::for_request(request), accept, &formats.iter().collect::<Vec<_>>())
        })
        .map(Self)
});

impl Part for AlertFormat {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let formats = alert_formats(interface.formats);
        let description =
            format!("{GEOFORMAT_DESCRIPTION} `.{DOCUMENT}` after the identifier chooses the CAP document.");
        describe_parameters(&formats.iter().collect::<Vec<_>>(), &description, operation);
        operation.formats = document(interface.formats).map(|_| DOCUMENT.to_owned()).into_iter().collect();
        let kind = LayerKind::Alerts;
        let registered =
            |format: &dyn Format| interface.formats.for_kind(kind).any(|other| **other == *format);
        let schema = |format: &dyn Format| {
            if registered(format) {
                schema::reference(&layer_schema(kind, format))
            } else {
                format.schema(kind)
            }
        };
        describe_responses(operation, formats.iter().map(|format| (&**format, schema(&**format))), kind);
    }
}

/// Describes the responses in these formats. Enveloped JSON formats of one media type become one response with alternatives, so
/// that generated clients choose by the member `type`.
fn describe_responses<'f>(
    operation: &mut Operation,
    formats: impl Iterator<Item = (&'f dyn Format, Value)>,
    kind: LayerKind,
) {
    let mut groups: IndexMap<(&str, bool), Vec<_>> = IndexMap::new();
    for (format, schema) in formats {
        let key = (format.media_type(), format.container() == Container::JSON);
        groups.entry(key).or_default().push((format, schema));
    }
    for ((media_type, is_enveloped), formats) in groups {
        if is_enveloped {
            operation.response(media_type, schema::enveloped(alternatives(formats, kind)));
        } else {
            for (_, schema) in formats {
                operation.response(media_type, schema);
            }
        }
    }
}

/// Returns one schema for all formats. If all schemas are references that differ in a constant `type`, adds a discriminator.
fn alternatives(formats: Vec<(&dyn Format, Value)>, kind: LayerKind) -> Value {
    let kinds: Option<Map<String, Value>> = formats
        .iter()
        .map(|(format, schema)| {
            let name = format.schema(kind).pointer("/properties/type/const")?.as_str()?.to_owned();
            Some((name, schema.get("$ref")?.clone()))
        })
        .collect();
    let count = formats.len();
    let schemas: Vec<Value> = formats.into_iter().map(|(_, schema)| schema).collect();
    match kinds.filter(|kinds| count > 1 && kinds.len() == count) {
        Some(mapping) => json!({
            "oneOf": schemas, "discriminator": { "propertyName": "type", "mapping": mapping },
        }),
        None => schema::one_of(schemas),
    }
}

const DOCUMENT: &str = Container::XML.0;

fn alert_formats(registry: &FormatRegistry) -> Vec<Arc<dyn Format>> {
    let collections = registry.for_kind(LayerKind::Alerts).filter(|format| format.entry_format().is_none());
    document(registry).into_iter().chain(collections.cloned()).collect()
}

/// Returns the format of the documents that the feeds link to; `None` if no feed is enabled.
fn document(registry: &FormatRegistry) -> Option<Arc<dyn Format>> {
    registry.for_kind(LayerKind::Alerts).find_map(|format| format.entry_format())
}

/// Returns the format for a path that ends in [`DOCUMENT`]. Fails if the parameters choose another format.
fn alert_document(registry: &FormatRegistry, query: Query<'_>) -> Result<Arc<dyn Format>, Problem> {
    let format = document(registry).ok_or_else(|| Problem::internal("no feed of alerts is enabled"))?;
    query.one_of("format", &[format.container().0])?;
    query.one_of("geoformat", &[format.name()])?;
    Ok(format)
}

fn containers(formats: &[&Arc<dyn Format>]) -> Vec<&'static str> {
    let containers: IndexSet<_> = formats.iter().map(|format| format.container().0).collect();
    containers.into_iter().collect()
}

fn describe_parameters(formats: &[&Arc<dyn Format>], description: &str, operation: &mut Operation) {
    let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
    for (name, description, values) in [
        (
            "format",
            "The kind of document; it follows from `geoformat` where that is given.",
            json!(containers(formats)),
        ),
        ("geoformat", description, json!(names)),
    ] {
        operation.parameter(Parameter::query(name, description, json!({ "type": "string", "enum": values })));
    }
    operation.cached_response();
}

/// Chooses a format, by default the first. Returns its current version, because a reload replaces templates.
fn choose(
    query: Query<'_>,
    accept: impl FnOnce() -> Accept,
    formats: &[&Arc<dyn Format>],
) -> Result<Arc<dyn Format>, Problem> {
    let format = choose_enabled(query, accept, formats)?;
    Ok(format.current().unwrap_or(format))
}

/// Returns the format that the path names. Fails if the parameters choose another format.
fn format_in_path(
    query: Query<'_>,
    name: &str,
    formats: &[&Arc<dyn Format>],
) -> Result<Arc<dyn Format>, Problem> {
    let format = formats.iter().find(|format| format.name() == name);
    let format = format.ok_or_else(|| Problem::internal("the format of the address is not enabled"))?;
    query.one_of("format", &[format.container().0])?;
    query.one_of("geoformat", &[name])?;
    Ok(bare(format.current().unwrap_or_else(|| Arc::clone(format))))
}

/// Follows the parameters `format` and `geoformat`, or `Accept` if both are absent; the default is the first format.
fn choose_enabled(
    query: Query<'_>,
    accept: impl FnOnce() -> Accept,
    formats: &[&Arc<dyn Format>],
) -> Result<Arc<dyn Format>, Problem> {
    let enabled = || formats.iter().copied();
    let none = || Problem::internal("no enabled format carries the layer");
    if query.get("format")?.is_none() && query.get("geoformat")?.is_none() {
        let preferred = accept().preferred(enabled());
        return preferred.or_else(|| enabled().next()).cloned().ok_or_else(none);
    }
    let names: Vec<&str> = enabled().map(|format| format.name()).collect();
    let container = query.one_of("format", &containers(formats))?.copied();
    let name = query.one_of("geoformat", &names)?;
    let mut matching = enabled().filter(|format| {
        container.is_none_or(|container| format.container().0 == container)
            && name.is_none_or(|&name| format.name() == name)
    });
    matching.next().cloned().ok_or_else(|| match (container, name) {
        (Some(container), Some(name)) => Problem::bad_request(
            Source::Query,
            &["format", "geoformat"],
            format!("\"format\" {container} and \"geoformat\" {name} do not go together"),
        ),
        _ => none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{alerts, builtin, cap, topojson};

    #[test]
    fn each_parameter_implies_the_other_and_the_default_wins_within_its_container() {
        let notices = alerts::Notices::new(alerts::Options::default(), cap::Options::default());
        let known = builtin(topojson::Options::default(), cap::Options::default(), notices);
        let enabled = ["topojson", "geojson", "cap"].map(str::to_owned);
        for (query, default, expected) in [
            ("", "cap", Some("cap")),
            ("format=xml", "topojson", Some("cap")),
            ("format=json", "geojson", Some("geojson")),
            ("format=json", "cap", Some("topojson")),
            ("format=json&geoformat=geojson", "topojson", Some("geojson")),
            ("format=json&geoformat=cap", "topojson", None),
            ("format=xml&geoformat=geojson", "topojson", None),
        ] {
            let registry = FormatRegistry::new(&known, &enabled, default).unwrap();
            let formats: Vec<_> = registry.for_kind(LayerKind::Floods).collect();
            let found = choose(Query::new(query), || Accept::new([]), &formats).ok();
            assert_eq!(found.as_ref().map(|format| format.name()), expected, "{query} {default}");
        }
    }
}
