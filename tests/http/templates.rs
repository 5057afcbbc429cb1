//! Formats that the configuration adds.

use std::fs;

use figment::Figment;
use figment::providers::{Format, Toml};
use rocket::http::{Header, Status};
use tempfile::TempDir;

use crate::suite::support::{Siaga, assert_invalid, figment, json_of};

const KML: &str = "application/vnd.google-earth.kml+xml";

/// The tests' configuration with the examples.
fn with_examples() -> Figment {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/templates/Siaga.toml");
    figment().merge(Toml::file_exact(file).nested())
}

/// A configuration in a file beside its template `x`, of media type `text/plain`.
fn template_folder(template: &str) -> (TempDir, Figment) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.txt"), template).unwrap();
    let toml = r#"
        [default.siaga.formats]
        enabled = ["topojson", "x"]
        [default.siaga.formats.template.x]
        file = "x.txt"
        media_type = "text/plain; charset=utf-8"
        layers = ["floods"]
    "#;
    let path = folder.path().join("Rocket.toml");
    fs::write(&path, toml).unwrap();
    (folder, figment().merge(Toml::file_exact(path).nested()))
}

#[test]
fn a_template_is_chosen_like_the_services_own_formats() {
    let siaga = Siaga::with(with_examples(), |builder| builder);
    for (address, accept, media_type, begun) in [
        ("/v1/floods?format=xml&geoformat=kml", "*/*", KML, "<?xml"),
        ("/v1/reports?format=xml", "*/*", KML, "<?xml"),
        ("/v1/floods", KML, KML, "<?xml"),
        ("/v1/floodgauges", "application/rss+xml, */*;q=0.1", "application/rss+xml", "<?xml"),
        ("/v1/floods?format=xml", "*/*", "application/atom+xml; charset=utf-8", "<?xml"),
        ("/v1/infrastructure?format=text", "*/*", "text/csv; charset=utf-8", "name,"),
        ("/v1/admin", "text/csv", "text/csv; charset=utf-8", "code,"),
    ] {
        let accept = Header::new("Accept", accept);
        let response = siaga.client.get(address).header(accept).dispatch();
        assert_eq!(response.status(), Status::Ok, "{address}");
        assert_eq!(response.headers().get_one("Content-Type"), Some(media_type), "{address}");
        assert!(response.into_string().unwrap().starts_with(begun), "{address}");
    }
    let expected = "one of [topojson, geojson, csv]";
    assert_invalid(siaga.get("/v1/admin?geoformat=kml"), "query", &["geoformat"], expected);
}

#[test]
fn the_path_of_a_template_is_relative_to_its_configuration_and_it_is_read_once() {
    let (folder, figment) = template_folder("{{ layer }} at {{ base_url }}: {{ features|length }}");
    let siaga = Siaga::with(figment, |builder| builder);
    fs::remove_file(folder.path().join("x.txt")).unwrap();
    for (query, expected) in
        [("", "floods at http://localhost/v1: 5"), ("&city=bdg", "floods at http://localhost/v1: 1")]
    {
        let response = siaga.client.get(format!("/v1/floods?geoformat=x{query}")).dispatch();
        assert_eq!(response.into_string().unwrap(), expected);
    }
}

#[test]
fn a_json_template_is_wrapped_in_the_envelope() {
    let (_folder, figment) = template_folder("{{ features|map(attribute='properties.area_id')|list }}");
    let figment = figment.merge(("siaga.formats.template.x.media_type", "application/json"));
    let siaga = Siaga::with(figment, |builder| builder);
    assert_eq!(siaga.result("/v1/floods?geoformat=x"), serde_json::json!(["1", "2", "5", "10", "30"]));
    assert_eq!(siaga.result("/v1/floods?format=json")["type"], "Topology");
}

#[test]
fn a_failing_template_is_a_500_without_details() {
    // The trial rendering at startup has no area 30.
    let fails = "{% if of.properties.area_id == '30' %}{{ of.x }}{% endif %}{{ of.properties.area_id }}";
    let (_folder, figment) = template_folder(&format!("{{% for of in features %}}{fails}{{% endfor %}}"));
    let siaga = Siaga::with(figment, |builder| builder);
    assert_eq!(siaga.get("/v1/floods?geoformat=x&city=jbd").status(), Status::Ok);
    let response = siaga.get("/v1/floods?geoformat=x");
    assert_eq!(response.status(), Status::InternalServerError);
    assert!(!json_of(response).to_string().contains("x.txt"));
}

#[test]
fn a_template_is_chosen_by_its_configured_container_else_by_that_of_its_media_type() {
    let (_folder, figment) = template_folder("{{ features|length }} from a template");
    for (figment, chosen, other) in [
        (figment.clone(), "text", "html"),
        (figment.merge(("siaga.formats.template.x.container", "html")), "html", "text"),
    ] {
        let siaga = Siaga::with(figment, |builder| builder);
        let get = |format: &str| siaga.client.get(format!("/v1/floods?format={format}")).dispatch();
        assert_eq!(get(chosen).into_string().as_deref(), Some("5 from a template"));
        assert_invalid(get(other), "query", &["format"], &format!("one of [json, {chosen}]"));
    }
}
