use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::tags::{tag, tags};
use super::{Described, Interface};
use crate::config::{Config, Licence};
use crate::formats::{Container, EncodeContext, Format};
use crate::model::{LayerKind, Timestamp};
use crate::schema;
use crate::schema::resources::{self, Sample, sample};

/// Returns the OpenAPI document of an interface with these routes, in about a millisecond. Paths are relative to its only server,
/// the configured base address. HEAD (supported wherever GET is) and OPTIONS are left out.
#[must_use]
pub(crate) fn document(interface: &Interface<'_>, routes: &[Described]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    // OpenAPI treats paths that differ only in parameter names as one path. Maps each shape to the first path that has it.
    let mut by_shape: HashMap<String, String> = HashMap::new();
    let mut ids = HashSet::new();
    for described in routes {
        let (uri, method) =
            (described.route.uri.path(), described.route.method.as_str().to_ascii_lowercase());
        let mut operation = described.operation(interface);
        let path =
            by_shape.entry(shape(uri)).or_insert_with(|| path(uri, operation.path_parameters())).clone();
        operation.name_path_parameters(&path);
        let mut id = described.route.name.as_deref().unwrap_or(&path).to_owned();
        // The id must be unique, but a handler can be mounted at several paths.
        while !ids.insert(id.clone()) {
            id.push('_');
        }
        let value = operation.into_value(&id, tag(&path));
        let item = paths.entry(path).or_insert_with(|| json!({}));
        // If several routes share path and method, describe the first. Which of them responds depends on the request.
        if item.get(&method).is_none() {
            item[method] = value;
        }
    }
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Siaga",
            "summary": "Disaster and flood information",
            "description": DESCRIPTION,
            "version": env!("CARGO_PKG_VERSION"),
            "license": licence(interface.config),
        },
        "servers": [{ "url": interface.config.base_url.as_str() }],
        "tags": tags(paths.keys()),
        "paths": paths,
        "components": {
            "schemas": schemas(interface),
            "securitySchemes": {
                "key": {
                    "type": "apiKey", "in": "header", "name": "X-Api-Key",
                    "description": "An API key; a token is accepted here as well.",
                },
                "token": {
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "A JSON Web Token with the scopes in its claim `scope`.",
                },
                "subscription": {
                    "type": "http", "scheme": "bearer",
                    "description": "The `secret` of a subscription to push messages.",
                },
            },
        },
    })
}

pub(crate) fn layer_schema(kind: LayerKind, format: &dyn Format) -> String {
    format!("{kind:?}.{}", format.name())
}

fn schemas(interface: &Interface<'_>) -> Map<String, Value> {
    let mut schemas = schema::components();
    schemas.extend(resources::schemas(&interface.config.cards.hazards));
    for kind in LayerKind::ALL {
        let formats = interface.formats.for_kind(kind);
        schemas.extend(formats.map(|format| {
            let mut schema = format.schema(kind);
            if let (Value::Object(schema), Some(example)) = (&mut schema, example(interface, kind, &**format))
            {
                schema.insert("examples".to_owned(), json!([example]));
            }
            (layer_schema(kind, &**format), schema)
        }));
    }
    schemas
}

fn example(interface: &Interface<'_>, kind: LayerKind, format: &dyn Format) -> Option<Value> {
    let now = Timestamp::parse("2016-12-19T13:53:52.274Z").ok()?;
    let Config { time_zone, base_url, .. } = interface.config;
    let context = EncodeContext::new(now, *time_zone, base_url.as_str());
    let layer = sample(kind, Sample::Plain, now);
    // A format that panics gets no example: startup continues, and requests for the format report the failure.
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut encoded = Vec::new();
        format.encode(&layer, &context, &mut encoded).map(|()| encoded)
    }));
    let encoded = result.ok()?.ok()?;
    if format.container() == Container::JSON {
        serde_json::from_slice(&encoded).ok()
    } else {
        String::from_utf8(encoded).ok().map(Value::from)
    }
}

fn licence(Config { licence: Licence { terms, url }, base_url, .. }: &Config) -> Value {
    let url = url.as_ref().map_or_else(|| format!("{}/", base_url.origin()), |url| url.as_str().to_owned());
    json!({ "name": terms, "url": url })
}

const DESCRIPTION: &str = "Reports of residents, flood states of neighbourhoods, water levels of gauges, pumps, floodgates \
    and waterways.\n\nAt `/docs`, an open lock marks operations that need no credential. An empty parameter counts as an absent one, and \
    unknown parameters are ignored.\n\nCoordinates are WGS84 degrees, and times are UTC unless they say otherwise. Water levels \
    and depths are in centimetres, other lengths in metres, periods in seconds.";

/// Converts Rocket's notation (`/floods/<id>`) to OpenAPI's (`/floods/{localAreaId}`). Undescribed parameters keep their names.
fn path<'a>(uri: &str, mut names: impl Iterator<Item = &'a str>) -> String {
    let openapi_part = |part: &str| match parameter_name(part) {
        Some(name) => format!("{{{}}}", names.next().unwrap_or(name)),
        None => part.to_owned(),
    };
    uri.split('/').map(openapi_part).collect::<Vec<_>>().join("/")
}

/// Returns a path in Rocket's notation without parameter names, so that paths of the same shape compare equal.
pub(crate) fn shape(uri: &str) -> String {
    let without_name = |part| if parameter_name(part).is_some() { "<>" } else { part };
    uri.split('/').map(without_name).collect::<Vec<_>>().join("/")
}

fn parameter_name(part: &str) -> Option<&str> {
    Some(part.strip_prefix('<')?.strip_suffix('>')?.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_parameters_have_their_names_in_the_interface() {
        for (uri, names, expected, shaped) in [
            ("/floods", vec![], "/floods", "/floods"),
            ("/floods/<id>", vec!["localAreaId"], "/floods/{localAreaId}", "/floods/<>"),
            ("/cards/<id>/images", vec!["cardId"], "/cards/{cardId}/images", "/cards/<>/images"),
            ("/own/<city>/<rest..>", vec![], "/own/{city}/{rest}", "/own/<>/<>"),
        ] {
            assert_eq!((path(uri, names.into_iter()), shape(uri)), (expected.to_owned(), shaped.to_owned()));
        }
    }
}
