//! The OpenAPI document matches the routes, and is served.

use std::collections::BTreeSet;

use rocket::http::{Header, Status};
use serde_json::{Value, json};
use siaga::described;

use crate::suite::support::{Siaga, figment, json_of};

/// Method and path of every operation.
fn operations(document: &Value) -> BTreeSet<(String, String)> {
    let methods = |item: &Value| item.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, item)| methods(item).into_iter().map(|method| (method, path.clone()))).collect()
}

/// A value and all values in it.
fn all(value: &Value) -> Vec<&Value> {
    let inner: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    std::iter::once(value).chain(inner.into_iter().flat_map(all)).collect()
}

/// The path with its parameters without names.
fn unnamed(path: &str, open: char) -> String {
    let part = |part: &str| if part.starts_with(open) { "*".to_owned() } else { part.to_owned() };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[test]
fn the_document_has_exactly_the_routes_below_the_base_address() {
    let siaga = Siaga::start();
    let document = json_of(siaga.get("/openapi.json"));
    let described = operations(&document).into_iter().map(|(method, path)| (method, unnamed(&path, '{')));
    // Routes without a name only handle the methods that a path does not allow.
    let named = siaga.client.rocket().routes().filter(|route| route.name.is_some());
    let mounted = named.filter_map(|route| {
        let path = route.uri.path().strip_prefix("/v1")?;
        Some((route.method.to_string().to_lowercase(), unnamed(path, '<')))
    });
    let mounted: BTreeSet<_> = mounted.collect();
    assert!(mounted.len() > 25, "{mounted:?}");
    assert_eq!(described.collect::<BTreeSet<_>>(), mounted);
}

#[test]
fn the_document_has_the_base_address_the_licence_and_unique_names() {
    let licence = json!({ "url": "https://data.example/licence", "terms": "CC BY 4.0" });
    let document = json_of(Siaga::with_setting("siaga.licence", licence).get("/openapi.json"));
    assert_eq!(document["openapi"], "3.1.1");
    assert_eq!(document["servers"], json!([{ "url": "http://localhost/v1" }]));
    let licence = &document["info"]["license"];
    assert_eq!(
        (&licence["url"], &licence["name"]),
        (&json!("https://data.example/licence"), &json!("CC BY 4.0"))
    );
    let document_without = json_of(Siaga::start().get("/openapi.json"));
    assert_eq!(document_without["info"]["license"]["url"], "http://localhost/", "the page has the terms");
    let mut ids = BTreeSet::new();
    for (method, path) in operations(&document) {
        let operation = &document["paths"][&path][&method];
        assert!(operation["summary"].as_str().is_some_and(|summary| summary.len() > 5), "{method} {path}");
        assert!(ids.insert(operation["operationId"].to_string()), "{operation}");
        let named = operation["parameters"].as_array().into_iter().flatten();
        for parameter in named.clone() {
            let schema = &parameter["schema"];
            let is_said =
                ["type", "enum", "$ref", "anyOf", "oneOf"].iter().any(|key| schema.get(key).is_some());
            assert!(is_said, "{method} {path}: {parameter}");
        }
        let in_path = named.filter(|parameter| parameter["in"] == "path");
        let in_path = in_path.map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap()));
        let of_path = path.split('/').filter(|part| part.starts_with('{')).map(str::to_owned);
        assert_eq!(in_path.collect::<BTreeSet<_>>(), of_path.collect(), "{method} {path}");
    }
}

#[test]
fn every_operation_has_a_described_tag_and_its_security_requirement() {
    let document = json_of(Siaga::start().get("/openapi.json"));
    let tags = document["tags"].as_array().unwrap();
    let names: Vec<_> = tags.iter().map(|tag| &tag["name"]).collect();
    assert_eq!((names[0], names.last().unwrap()), (&json!("floods"), &&json!("feeds")));
    assert!(tags.iter().all(|tag| tag["description"].as_str().is_some_and(|expected| expected.len() > 20)));
    for (method, path) in operations(&document) {
        let operation = &document["paths"][&path][&method];
        let [tag] = operation["tags"].as_array().unwrap().as_slice() else { panic!("{operation}") };
        assert!(names.contains(&tag), "{method} {path}");
        let alternatives = operation["security"].as_array().unwrap();
        let is_open = alternatives.is_empty() || alternatives.contains(&json!({}));
        let needs_credential = ["/cards", "/feeds"].iter().any(|start| path.starts_with(start))
            || path.ends_with("/log")
            || path == "/floods/attention";
        let is_read = method == "get" && !needs_credential;
        let is_for_residents = path.starts_with("/uploads") || path == "/push/subscriptions";
        assert_eq!(is_open, is_read || is_for_residents, "{method} {path}");
    }
}

#[test]
fn the_default_format_is_the_first_media_type_of_a_map() {
    for (default, expected) in [("topojson", "application/json"), ("cap", "application/atom+xml")] {
        let document = json_of(Siaga::with_setting("siaga.formats.default", default).get("/openapi.json"));
        let content = &document["paths"]["/floods"]["get"]["responses"]["200"]["content"];
        assert_eq!(content.as_object().unwrap().keys().next().unwrap(), expected, "{default}");
    }
}

#[test]
fn the_document_reflects_the_configuration() {
    let figment = figment()
        .merge(("siaga.formats", json!({ "enabled": ["geojson"], "default": "geojson" })))
        .merge(("siaga.areas.provinces", ["ID-JB"]))
        .merge(("siaga.feeds.partner.cities", ["bandung"]));
    let document = json_of(Siaga::with(figment, |builder| builder).get("/openapi.json"));
    let floods = &document["paths"]["/floods"]["get"];
    let offered = |operation: &Value, name: &str, keyword: &str| {
        let mut parameters = operation["parameters"].as_array().unwrap().iter();
        parameters.find(|parameter| parameter["name"] == name).unwrap()["schema"][keyword].clone()
    };
    assert_eq!(offered(floods, "geoformat", "enum"), json!(["geojson"]));
    // The cities depend on the areas.
    assert_eq!(offered(floods, "city", "examples"), json!(["bdg", "jbd"]));
    assert_eq!(offered(floods, "admin", "examples"), json!(["ID-JB", "ID-JK"]));
    assert_eq!(offered(floods, "city", "enum"), Value::Null);
    let gauges = &document["paths"]["/floodgauges"]["get"];
    assert_eq!(offered(gauges, "admin", "enum"), json!(["ID-JB"]));
    let types: Vec<_> = floods["responses"]["200"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(types, ["application/json", "application/geo+json"], "in the envelope, and without it");
    let body = &document["paths"]["/feeds/partner"]["post"]["requestBody"];
    let city = &body["content"]["application/json"]["schema"]["properties"]["partner_city"];
    assert_eq!(city["enum"], json!(["bandung"]));
}

#[test]
fn the_document_is_valid_and_its_examples_match_their_schemas() {
    let document = json_of(Siaga::start().get("/openapi.json"));
    let mut examples = 0;
    for value in all(&document) {
        let Some(Value::Array(given)) = value.get("examples") else { continue };
        let mut schema = value.clone();
        schema["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for example in given {
            validator.validate(example).unwrap_or_else(|fault| panic!("{example}: {fault}"));
            examples += 1;
        }
    }
    assert!(examples > 20, "{examples}");
    let reference = document.to_string();
    for name in reference.split("#/components/schemas/").skip(1) {
        let name = name.split('"').next().unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
}

#[test]
fn generators_of_clients_in_typescript_get_types_that_compile() {
    let document = json_of(Siaga::start().get("/openapi.json"));
    for value in all(&document) {
        // An index of one type cannot stand beside members of other types.
        let has_members = value["properties"].as_object().is_some_and(|members| !members.is_empty());
        assert!(!has_members || !value["additionalProperties"].is_object(), "{value}");
    }
    // `pattern` only applies to strings.
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(schema.get("pattern").is_none() || schema["type"] == "string", "{name}");
    }
}

#[rocket::get("/warnings/<city>")]
fn list_warnings(city: &str) -> (rocket::http::ContentType, String) {
    (rocket::http::ContentType::JSON, json!({ "city": city }).to_string())
}

#[rocket::get("/own/<city>")]
fn list_own(city: &str) -> &str {
    city
}

#[test]
fn the_document_has_the_described_routes_of_an_agency() {
    let operation =
        described!(list_warnings).summary("The warnings of a city").response(json!({ "type": "object" }));
    let own = rocket::routes![list_own];
    let siaga = Siaga::with(figment(), |builder| builder.mount("/told", [operation]).mount("/", own));
    let document = json_of(siaga.get("/openapi.json"));
    let operation = &document["paths"]["/told/warnings/{city}"]["get"];
    assert_eq!(
        (&operation["summary"], &operation["tags"]),
        (&json!("The warnings of a city"), &json!(["told"]))
    );
    assert_eq!(operation["parameters"][0]["name"], "city");
    assert_eq!(document["paths"]["/own/{city}"]["get"]["parameters"], operation["parameters"]);
    assert_eq!(siaga.get("/v1/told/warnings/jbd").into_string().unwrap(), r#"{"city":"jbd"}"#);
}

#[test]
fn the_files_of_the_docs_page_are_compressed_from_the_first_request() {
    let siaga = Siaga::start();
    for (address, length) in [("/docs/swagger-ui-bundle.js", 1_000_000), ("/openapi.json", 64_000)] {
        let mut tags = BTreeSet::new();
        for coding in ["gzip", "br", "identity"] {
            let response =
                siaga.client.get(address).header(Header::new("Accept-Encoding", coding)).dispatch();
            let header = |name| response.headers().get_one(name).map(str::to_owned);
            let (is_coded, tag) = (coding != "identity", header("ETag").unwrap());
            assert_eq!(header("Content-Encoding").as_deref(), is_coded.then_some(coding), "{address}");
            assert_eq!(header("Vary").as_deref(), Some("Accept, Accept-Encoding"));
            assert_eq!(tag.ends_with(&format!("-{coding}\"")), is_coded, "{tag}");
            let bytes = response.into_bytes().unwrap();
            assert_eq!(bytes.len() < length / 2, is_coded, "{address} {coding}: {}", bytes.len());
            let again = siaga.client.get(address).header(Header::new("Accept-Encoding", coding));
            let known = again.header(Header::new("If-None-Match", tag.clone())).dispatch();
            assert_eq!(known.status(), Status::NotModified, "{address} {coding}");
            tags.insert(tag);
        }
        assert_eq!(tags.len(), 3, "{tags:?}");
    }
}

#[test]
fn the_docs_page_loads_nothing_from_other_hosts() {
    let siaga = Siaga::start();
    let response = siaga.get("/docs");
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self'"), "{policy}");
    let page = response.into_string().unwrap();
    let mut files = 0;
    for attribute in ["href=\"", "src=\""] {
        for address in page.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let address = &address.replace("&#x2f;", "/").replace("&amp;", "&");
            assert!(["/", "#", "data:,", "tel:"].iter().any(|own| address.starts_with(own)), "{address}");
            if address.starts_with('/') {
                assert_eq!(siaga.get(address).status(), Status::Ok, "{address}");
                files += 1;
            }
        }
    }
    assert!(files >= 4, "{files}");
    let file = siaga.get("/docs/start.js");
    assert!(siaga.is_current("/docs/start.js", file.headers().get_one("ETag").unwrap()));
    assert_eq!(siaga.get("/docs/").status(), Status::Ok);
    for unknown in ["/docs/index.html", "/docs/x", "/docs/..%2Fpage.html"] {
        assert_eq!(siaga.get(unknown).status(), Status::NotFound, "{unknown}");
    }
}
