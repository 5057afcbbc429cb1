//! Layers of the map at addresses with a format extension, without the envelope.

use rocket::http::{Header, Method, Status};
use rocket::routes;
use siaga::model::LayerKind;

use crate::suite::support::{Siaga, figment, json_of};

fn body(siaga: &Siaga, address: &str) -> String {
    let response = siaga.get(address);
    assert_eq!(response.status(), Status::Ok, "{address}");
    response.into_string().unwrap()
}

#[test]
fn every_map_resource_has_an_address_with_the_extension_of_each_format_without_the_envelope() {
    let siaga = Siaga::with_setting("siaga.also_at", ["/data", "/"]);
    let document = json_of(siaga.get("/openapi.json"));
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let mut parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        let Some(choice) = parameters.find(|parameter| parameter["name"] == "geoformat") else { continue };
        let (path, query) = match &**path {
            "/alerts/{identifier}" => continue,
            "/alerts/history" => (path.clone(), "area=5"),
            "/reports/archive" => (path.clone(), "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z"),
            "/regions/bounds" => (path.clone(), "admin=sby"),
            "/areas/at" => (path.clone(), "lat=-6.175&lng=106.827"),
            "/infrastructure/{type}" => ("/infrastructure/pumps".to_owned(), ""),
            _ => (path.replace("{id}", "1").replace("{reportId}", "1").replace("{localAreaId}", "5"), ""),
        };
        assert!(!path.contains('{'), "{path}");
        for format in choice["schema"]["enum"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
            for mount in ["/v1", "/data", ""] {
                let enveloped = format!("{mount}{path}?geoformat={format}&{query}");
                let given = siaga.get(&enveloped);
                let (status, given) = (given.status(), given.into_string().unwrap());
                let address = format!("{mount}{path}.{format}?{query}");
                let bare = siaga.get(&address);
                assert_eq!(bare.status(), status, "{address}");
                if status != Status::Ok {
                    continue;
                }
                let bare = bare.into_string().unwrap();
                let expected = given.strip_prefix(r#"{"statusCode":200,"result":"#);
                let expected = expected.map_or(&*given, |result| result.strip_suffix('}').unwrap());
                assert_eq!(bare, expected, "{address}");
                tried += 1;
            }
        }
    }
    assert!(tried > 3 * 2 * LayerKind::ALL.len(), "{tried}");
}

#[test]
fn features_have_the_identifiers_that_they_have_in_the_collections_for_gis_programs() {
    let siaga = Siaga::start();
    for (address, collection) in [
        ("/v1/floods.geojson", "floods"),
        ("/v1/areas.geojson", "areas"),
        ("/v1/reports.geojson?timeperiod=604800", "reports"),
        ("/v1/floodgauges.geojson?timeperiod=604800", "gauges"),
        ("/v1/infrastructure.geojson", "infrastructure"),
        ("/v1/alerts.geojson", "alerts"),
    ] {
        let features = json_of(siaga.get(address))["features"].as_array().unwrap().clone();
        assert!(!features.is_empty(), "{address}");
        for feature in features {
            let id = feature["id"].to_string();
            let same = format!("/v1/ogc/collections/{collection}/items/{}", id.trim_matches('"'));
            let other = json_of(siaga.get(&same));
            assert_eq!(other["id"], feature["id"], "{same}: {other}");
        }
    }
    // Larger areas are in no collection.
    let cities = json_of(siaga.get("/v1/areas.geojson?level=city"));
    assert!(cities["features"].as_array().unwrap().iter().all(|city| city.get("id").is_none()));
}

#[test]
fn parameters_apply_and_must_not_contradict_the_address() {
    let siaga = Siaga::start();
    let bare = body(&siaga, "/v1/floods.geojson");
    // The address of a single alert in the CAP feed has no format extension.
    for query in ["geoformat=geojson", "format=json", "geoformat=", "area_id=x&time=y"] {
        assert_eq!(body(&siaga, &format!("/v1/floods.geojson?{query}")), bare, "{query}");
    }
    assert_ne!(body(&siaga, "/v1/floods.geojson?minimum_state=3"), bare);
    // The extension overrides `Accept`.
    let atom = Header::new("Accept", "application/atom+xml");
    let response = siaga.client.get("/v1/floods.geojson").header(atom).dispatch();
    assert_eq!(response.into_string().unwrap(), bare);
}

#[test]
fn a_bare_response_is_cached_separately_and_has_versioned_addresses() {
    let siaga = Siaga::start();
    let address = "/v1/areas.geojson?level=city";
    let response = siaga.get(address);
    let header = |name: &str| response.headers().get_one(name).unwrap().to_owned();
    let (tag, version) = (header("ETag"), header("Content-Location"));
    assert!(version.starts_with(&format!("{address}&revision=")), "{version}");
    let bare = response.into_string().unwrap();
    assert_eq!(body(&siaga, &version), bare);
    let enveloped = siaga.get("/v1/areas?level=city&geoformat=geojson");
    assert_ne!(enveloped.headers().get_one("ETag"), Some(&*tag));
    assert!(siaga.is_current(address, &tag));
    assert_eq!(siaga.client.head(address).dispatch().status(), Status::Ok);
    let options = siaga.client.options(address).dispatch();
    assert_eq!(options.headers().get_one("Allow"), Some("GET, HEAD, OPTIONS"));
}

#[test]
fn only_reads_of_map_resources_in_enabled_formats_have_such_addresses() {
    let siaga = Siaga::with_setting("siaga.formats.resources.reports", ["topojson"]);
    for missing in [
        "/v1/reports.geojson",
        "/v1/reports.cap",
        "/v1/floods.",
        "/v1/floods.GEOJSON",
        "/v1/floods.geojson.geojson",
        "/v1/stats/reportsSummary.geojson",
        "/v1/.geojson",
        "/floods.geojson",
        "/v1/cards.geojson",
    ] {
        assert_eq!(siaga.get(missing).status(), Status::NotFound, "{missing}");
    }
    // The path also matches PUT on an area.
    assert_eq!(siaga.get("/v1/floods/states.geojson").status(), Status::MethodNotAllowed);
    let put = siaga.request(Method::Put, "/v1/floods/5.geojson", r#"{"state":1}"#);
    assert_eq!(put.status(), Status::BadRequest);
    assert_eq!(siaga.request(Method::Post, "/v1/floods.geojson", "{}").status(), Status::NotFound);
    assert_eq!(siaga.get("/v1/floods.geojson/").status(), Status::Ok);
}

#[rocket::get("/floods.geojson")]
fn own() -> &'static str {
    "its own"
}

#[test]
fn a_route_of_a_program_at_such_an_address_takes_precedence() {
    let siaga = Siaga::with(figment(), |builder| builder.mount("/", routes![own]));
    assert_eq!(body(&siaga, "/v1/floods.geojson"), "its own");
    assert!(body(&siaga, "/v1/floods.topojson").starts_with('{'));
}
