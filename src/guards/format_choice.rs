use std::marker::PhantomData;
use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use serde_json::json;

use super::accept::Accept;
use super::{Query, managed};
use crate::error::{Problem, Source};
use crate::formats::{Container, Format, FormatRegistry};
use crate::model::LayerKind;
use crate::openapi::{Interface, Operation, Parameter, Part, layer_schema};
use crate::resources::MapResource;
use crate::schema;

/// The format chosen by the query parameters `format` (the container) and `geoformat` (the name of the format).
///
/// If only one of them is given, the other follows from it. If neither is given, the format that the header `Accept` prefers is
/// used; among equals, the configured default comes first. If the header accepts none of the formats, the default is used,
/// because existing clients send careless headers and expect it.
///
/// A format that also exists without the envelope ([`Format::bare`]) is sent that way if `Accept` prefers that media type.
#[derive(Clone, Debug)]
pub struct FormatChoice<R> {
    /// The format, which supports the layers of the resource.
    pub format: Arc<dyn Format>,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: MapResource + Default> FromRequest<'r> for FormatChoice<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let format = managed(request).and_then(|registry| {
            let accept = || Accept::new(request.headers().get("Accept"));
            let format = choice(Query::of(request), accept, registry, R::default().kind())?;
            Ok(format.bare().filter(|bare| accept().prefers(&**bare, &*format)).unwrap_or(format))
        });
        Problem::outcome(request, format.map(|format| Self { format, resource: PhantomData }))
    }
}

impl<R: MapResource + Default> Part for FormatChoice<R> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let kind = R::default().kind();
        let formats = || interface.formats.carrying(kind);
        let containers: Vec<_> = interface.formats.containers(kind).iter().map(ToString::to_string).collect();
        let names: Vec<_> = formats().map(|format| format.name()).collect();
        for (name, says, values) in [
            (
                "format",
                "The kind of document; it follows from `geoformat` where that is given.",
                json!(containers),
            ),
            (
                "geoformat",
                "The format; without it the first of `format`, else what `Accept` asks for.",
                json!(names),
            ),
        ] {
            operation.takes(Parameter::query(name, says, json!({ "type": "string", "enum": values })));
        }
        operation.is_shared();
        for format in formats() {
            let schema = schema::reference(&layer_schema(kind, &**format));
            if let Some(bare) = format.bare() {
                operation.gives(bare.media_type(), schema.clone());
            }
            let is_json = format.container() == Container::JSON;
            operation.gives(format.media_type(), if is_json { schema::enveloped(schema) } else { schema });
        }
    }
}

fn choice(
    query: Query<'_>,
    accept: impl FnOnce() -> Accept,
    registry: &FormatRegistry,
    kind: LayerKind,
) -> Result<Arc<dyn Format>, Problem> {
    let none = || Problem::internal("no enabled format carries the layer");
    if query.get("format")?.is_none() && query.get("geoformat")?.is_none() {
        let accept = accept();
        let preferred = accept.preferred(registry.carrying(kind));
        return preferred.or_else(|| registry.carrying(kind).next()).cloned().ok_or_else(none);
    }
    let containers: Vec<&str> = registry.containers(kind).into_iter().map(|Container(name)| name).collect();
    let names: Vec<&str> = registry.carrying(kind).map(|format| format.name()).collect();
    let container = query.one_of("format", &containers)?;
    let name = query.one_of("geoformat", &names)?;
    let mut matching = registry.carrying(kind).filter(|format| {
        container.is_none_or(|&container| format.container().0 == container)
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
    use crate::formats::{builtin, cap, topojson};

    fn chosen(query: &str, enabled: &[&str], default: &str) -> Option<String> {
        let known = builtin(topojson::Options::default(), cap::Options::default());
        let enabled: Vec<_> = enabled.iter().map(|&name| name.to_owned()).collect();
        let registry = FormatRegistry::new(&known, &enabled, default).unwrap();
        let format = choice(Query::new(query), || Accept::new([]), &registry, LayerKind::Floods).ok()?;
        Some(format.name().to_owned())
    }

    #[test]
    fn either_parameter_follows_from_the_other() {
        for (query, expected) in [
            ("", Some("topojson")),
            ("format=json", Some("topojson")),
            ("format=xml", Some("cap")),
            ("geoformat=cap", Some("cap")),
            ("geoformat=geojson", Some("geojson")),
            ("format=json&geoformat=geojson", Some("geojson")),
            ("format=xml&geoformat=cap", Some("cap")),
            ("format=json&geoformat=cap", None),
            ("format=xml&geoformat=geojson", None),
            ("format=topojson", None),
            ("geoformat=xml", None),
        ] {
            let found = chosen(query, &["topojson", "geojson", "cap"], "topojson");
            assert_eq!(found.as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn the_default_is_preferred_within_its_container_and_only_enabled_formats_count() {
        assert_eq!(chosen("format=json", &["topojson", "geojson"], "geojson").as_deref(), Some("geojson"));
        assert_eq!(chosen("", &["geojson", "cap"], "cap").as_deref(), Some("cap"));
        assert_eq!(chosen("format=json", &["geojson", "cap"], "cap").as_deref(), Some("geojson"));
        assert_eq!(chosen("geoformat=topojson", &["geojson", "cap"], "cap"), None);
    }
}
