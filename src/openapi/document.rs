use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Described, Interface, Parameter};
use crate::formats::sample::Sample;
use crate::formats::{Container, EncodeContext, Format};
use crate::model::{LayerKind, Timestamp};
use crate::{licence, schema};

/// The description of an interface of these routes, as an OpenAPI document in JSON.
///
/// The paths are relative to the one server it names, the configured base address. HEAD is answered wherever GET is, and
/// OPTIONS everywhere; neither is described. Costs about a millisecond.
#[must_use]
pub fn document(interface: &Interface<'_>, routes: &[Described]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut ids = HashSet::new();
    for described in routes {
        let mut operation = described.operation(interface);
        let (path, unknown) = path(described.route.uri.path(), operation.path_parameters());
        for name in unknown {
            operation.takes(Parameter::path(name, "", json!({ "type": "string" })));
        }
        let method = described.route.method.as_str().to_ascii_lowercase();
        let mut id = described.route.name.as_deref().unwrap_or(&path).to_owned();
        // A handler can stand at several paths.
        while !ids.insert(id.clone()) {
            id.push('_');
        }
        let value = operation.into_value(&id, tag(&path));
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method] = value;
    }
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Siaga",
            "summary": "Disaster and flood information",
            "description": DESCRIPTION,
            "version": env!("CARGO_PKG_VERSION"),
            "license": licence::described(interface.config.licence.url.as_ref()),
        },
        "servers": [{ "url": interface.config.base_url.as_str() }],
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
            },
        },
    })
}

/// The name of the schema of what a format writes of layers of a kind.
pub(crate) fn layer_schema(kind: LayerKind, format: &dyn Format) -> String {
    format!("{kind:?}.{}", format.name())
}

fn schemas(interface: &Interface<'_>) -> Map<String, Value> {
    let mut all = schema::components();
    for kind in LayerKind::ALL {
        let formats = interface.formats.carrying(kind);
        all.extend(formats.map(|format| {
            let mut schema = format.schema(kind);
            if let (Value::Object(schema), Some(example)) = (&mut schema, example(interface, kind, &**format))
            {
                schema.insert("examples".to_owned(), json!([example]));
            }
            (layer_schema(kind, &**format), schema)
        }));
    }
    all
}

/// What a format writes of a small layer; nothing where that is no text.
fn example(interface: &Interface<'_>, kind: LayerKind, format: &dyn Format) -> Option<Value> {
    let now = Timestamp::parse("2016-12-19T13:53:52.274Z").ok()?;
    let context = EncodeContext {
        now,
        time_zone: interface.config.time_zone,
        base_url: Arc::from(interface.config.base_url.as_str()),
    };
    let mut written = Vec::new();
    format.encode(&Sample::Plain.layer(kind, now), &context, &mut written).ok()?;
    if format.container() == Container::JSON {
        serde_json::from_slice(&written).ok()
    } else {
        String::from_utf8(written).ok().map(Value::from)
    }
}

const DESCRIPTION: &str = "Reports of residents, flood states of neighbourhoods, water levels of gauges and what keeps \
    water in its place, as TopoJSON, GeoJSON or CAP alerts.\n\nAn empty parameter counts as an absent one, and unknown \
    parameters are ignored. Coordinates are WGS84, times UTC unless they say otherwise.";

/// A path of Rocket's with its parameters named as the interface documents them: `/floods/<id>`, `/floods/{localAreaId}`;
/// and the names of those it does not document.
fn path<'a>(uri: &str, mut names: impl Iterator<Item = &'a str>) -> (String, Vec<String>) {
    let mut unknown = Vec::new();
    let part = |segment: &str| match segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        Some(own) => {
            let own = own.trim_end_matches('.');
            let name = names.next().unwrap_or_else(|| {
                unknown.push(own.to_owned());
                own
            });
            format!("{{{name}}}")
        }
        None => segment.to_owned(),
    };
    let path = uri.split('/').map(part).collect::<Vec<_>>().join("/");
    (path, unknown)
}

/// What the operations of a path are listed under: the first part of the path.
fn tag(path: &str) -> &str {
    path.split('/').find(|part| !part.is_empty()).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_path_are_named_as_the_interface_has_them() {
        for (uri, names, expected, unknown) in [
            ("/floods", vec![], "/floods", vec![]),
            ("/floods/<id>", vec!["localAreaId"], "/floods/{localAreaId}", vec![]),
            ("/cards/<id>/images", vec!["cardId"], "/cards/{cardId}/images", vec![]),
            ("/own/<city>/<rest..>", vec![], "/own/{city}/{rest}", vec!["city", "rest"]),
        ] {
            let unknown = unknown.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(path(uri, names.into_iter()), (expected.to_owned(), unknown));
        }
        assert_eq!(tag("/cards/{cardId}/images"), "cards");
    }
}
