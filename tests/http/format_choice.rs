//! Format negotiation by parameters, `Accept`, and configuration.

use rocket::http::{Header, Status};
use siaga::Builder;
use siaga::model::LayerKind;
use siaga::resources::describe;

use crate::suite::support::{Siaga, assert_invalid, figment};

const GEOJSON: &str = "application/geo+json";
const ATOM: &str = "application/atom+xml";

/// The beginning of a response to a request with these `Accept` lines, without its envelope.
fn beginning(siaga: &Siaga, address: &str, accept: &[&str]) -> String {
    let mut request = siaga.client.get(address.to_owned());
    for line in accept {
        request.add_header(Header::new("Accept", (*line).to_owned()));
    }
    let response = request.dispatch();
    assert_eq!(response.status(), Status::Ok, "{address} {accept:?}");
    assert_eq!(response.headers().get_one("Vary"), Some("Accept, Accept-Encoding"));
    let body = response.into_string().unwrap();
    let begun = body.trim_start_matches(r#"{"statusCode":200,"result":"#);
    begun.trim_start_matches(r#"{"type":""#).chars().take(5).collect()
}

fn address(kind: LayerKind) -> String {
    format!("/v1/{}", describe(kind).path)
}

#[test]
fn a_format_parameter_overrides_accept() {
    let siaga = Siaga::start();
    for (query, accept, expected) in [
        ("", &[][..], "Topol"),
        ("", &[GEOJSON], "Featu"),
        ("", &["application/json;q=0.5", "application/atom+xml;q=0.6"], "<?xml"),
        ("", &["text/csv"], "Topol"),
        ("", &["*/*;q=0"], "Topol"),
        ("", &["rubbish, \u{1}\"/;;q="], "Topol"),
        ("&format=json", &[ATOM], "Topol"),
        ("&geoformat=geojson", &[ATOM], "Featu"),
        ("&format=&geoformat=", &[ATOM], "<?xml"),
    ] {
        let address = format!("/v1/floods?city=bdg{query}");
        assert_eq!(beginning(&siaga, &address, accept), expected, "{query} {accept:?}");
    }
}

#[test]
fn accept_geojson_omits_the_envelope_and_other_requests_get_it() {
    let siaga = Siaga::start();
    for address in LayerKind::ALL.map(address) {
        let address = &*address;
        let geojson = format!("{address}?geoformat=geojson");
        let fetch = |address: &str, accept: &str| {
            let request = siaga.client.get(address.to_owned());
            let response = request.header(Header::new("Accept", accept.to_owned())).dispatch();
            assert_eq!(response.status(), Status::Ok);
            let kind = response.headers().get_one("Content-Type").unwrap().to_owned();
            let tag = response.headers().get_one("ETag").unwrap().to_owned();
            (kind, tag, response.into_string().unwrap())
        };
        let (kind, tag, enveloped) = fetch(&geojson, "application/json");
        assert_eq!(kind, "application/json", "{address}");
        let collection =
            enveloped.strip_prefix(r#"{"statusCode":200,"result":"#).unwrap().strip_suffix('}').unwrap();
        for (address, accept) in [
            (address, GEOJSON),
            (&*geojson, GEOJSON),
            (address, "application/geo+json, application/json;q=0.9, */*;q=0.1"),
        ] {
            let (kind, bare_tag, bare) = fetch(address, accept);
            assert_eq!((&*kind, &*bare), (GEOJSON, collection), "{address} {accept}");
            assert_ne!(bare_tag, tag);
        }
        for accept in ["*/*", "text/html", "application/geo+json, application/json"] {
            let (kind, _, body) = fetch(&geojson, accept);
            assert_eq!((&*kind, &body), ("application/json", &enveloped), "{address} {accept}");
        }
        let (kind, _, body) = fetch(address, "application/topo+json");
        assert_eq!((&*kind, body.starts_with(r#"{"statusCode":200,"#)), ("application/json", true));
    }
}

#[test]
fn only_formats_that_support_the_layer_are_chosen() {
    let siaga = Siaga::start();
    let has_no_feed = |kind: &LayerKind| !matches!(kind, LayerKind::Floods | LayerKind::Alerts);
    for address in LayerKind::ALL.into_iter().filter(has_no_feed).map(address) {
        let address = &address;
        assert_eq!(beginning(&siaga, address, &[ATOM]), "Topol", "{address}");
        assert_eq!(beginning(&siaga, address, &[ATOM, GEOJSON]), "Featu", "{address}");
    }
}

#[test]
fn a_resource_is_limited_to_its_configured_formats() {
    let figment = figment()
        .merge(("siaga.formats.resources.floods", ["cap", "geojson"]))
        .merge(("siaga.formats.resources.reports", ["geojson", "topojson"]));
    let siaga = Siaga::with(figment, |builder| builder);
    // The default is not among the formats of the resource, so its first one is used.
    assert_eq!(beginning(&siaga, "/v1/floods", &[]), "<?xml");
    assert_eq!(beginning(&siaga, "/v1/floods?format=json", &[]), "Featu");
    assert_eq!(beginning(&siaga, "/v1/floods", &["application/json"]), "Featu");
    let refused = siaga.get("/v1/floods?geoformat=topojson");
    assert_invalid(refused, "query", &["geoformat"], "one of [cap, geojson]");
    assert_eq!(beginning(&siaga, "/v1/reports", &[]), "Topol");
    for kind in LayerKind::ALL.into_iter().filter(|kind| *kind != LayerKind::Reports) {
        let (resource, address) = (kind.name(), &address(kind));
        let key = format!("siaga.formats.resources.{resource}");
        let siaga = Siaga::with_setting(&key, ["geojson"]);
        assert_eq!(beginning(&siaga, address, &[]), "Featu", "{resource}");
        assert_eq!(beginning(&siaga, "/v1/reports", &[]), "Topol", "{resource}");
    }
}

#[test]
fn a_request_without_a_format_gets_the_configured_default() {
    let siaga = Siaga::with_setting("siaga.formats.default", "geojson");
    assert_eq!(beginning(&siaga, "/v1/floods", &[]), "Featu");
    assert_eq!(beginning(&siaga, "/v1/floods?geoformat=topojson", &[]), "Topol");
}

#[test]
fn startup_fails_if_a_resource_is_limited_to_formats_that_cannot_encode_it() {
    for (key, names, expected) in [
        ("gauges", &["cap"][..], "gauges: each must be one of [topojson, geojson], not \"cap\""),
        ("floods", &[], "floods: must name at least one of [topojson, geojson, cap]"),
        ("admin", &["geojson"], "admin: unknown key; allowed are floods, reports, "),
    ] {
        let figment = figment().merge((format!("siaga.formats.resources.{key}"), names));
        let builder = Builder::default().figment(figment.merge(("siaga.store", "memory")));
        let error = builder.check().unwrap_err().to_string();
        assert!(error.contains(&format!("siaga.formats.resources.{expected}")), "{error}");
    }
}
