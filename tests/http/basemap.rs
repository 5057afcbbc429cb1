//! `/basemap`: from a file, or from the waterways of the store.

use rocket::http::Status;
use serde_json::{Value, json};

use crate::suite::support::{Siaga, figment};

/// A base map: a street in two pieces, a park, a wide road, and a place. Their names are hostile.
const BASEMAP: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"kind":"street","name":"Jalan <b>"},"geometry":{"type":"LineString","coordinates":[[106.80,-6.18],[106.81,-6.18]]}},
{"type":"Feature","properties":{"kind":"street","name":"Jalan <b>"},"geometry":{"type":"LineString","coordinates":[[106.81,-6.18],[106.82,-6.181]]}},
{"type":"Feature","properties":{"kind":"park"},"geometry":{"type":"Polygon","coordinates":[[[106.80,-6.19],[106.82,-6.19],[106.82,-6.17],[106.80,-6.17],[106.80,-6.19]]]}},
{"type":"Feature","properties":{"kind":"motorway"},"geometry":{"type":"MultiLineString","coordinates":[[[106.70,-6.1],[106.90,-6.3]]]}},
{"type":"Feature","properties":{"kind":"place","name":"\"><script>"},"geometry":{"type":"Point","coordinates":[106.81,-6.175]}}
]}"#;

fn with_basemap() -> Siaga {
    with_file(BASEMAP)
}

fn with_file(basemap: &str) -> Siaga {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("roads.geojson");
    std::fs::write(&file, basemap).unwrap();
    let configured = figment()
        .merge(("siaga.map.basemap.file", file))
        .merge(("siaga.map.basemap.attribution", "© <OpenStreetMap> contributors"));
    Siaga::with(configured, |builder| builder)
}

fn shapes(result: &Value) -> Vec<(&str, &str)> {
    let all = result["objects"]["basemap"]["geometries"].as_array().unwrap().iter();
    let all = all.map(|feature| &feature["properties"]);
    all.map(|feature| (feature["kind"].as_str().unwrap(), feature["name"].as_str().unwrap_or_default()))
        .collect()
}

#[test]
fn each_zoom_has_its_kinds_and_pieces_of_a_road_are_one_line() {
    let siaga = with_basemap();
    let at = |zoom: u8| siaga.result(&format!("/v1/basemap?bbox=106.79,-6.2,106.83,-6.16&zoom={zoom}"));
    assert_eq!(shapes(&at(6)), []);
    assert_eq!(shapes(&at(9)), [("river", ""), ("motorway", "")]);
    let place = ("place", "\"><script>");
    assert_eq!(shapes(&at(12)), [("river", ""), ("motorway", ""), ("park", ""), place]);
    let near = at(16);
    let expected = [("river", "Ciliwung"), ("motorway", ""), ("park", ""), ("street", "Jalan <b>"), place];
    assert_eq!(shapes(&near), expected);
    let street = &near["objects"]["basemap"]["geometries"][3];
    assert_eq!(street["arcs"].as_array().unwrap().len(), 1, "{street}");
    let arc = usize::try_from(street["arcs"][0][0].as_u64().unwrap()).unwrap();
    assert_eq!(near["arcs"][arc].as_array().unwrap().len(), 3, "{near}");
    // The first position of an arc, on the grid of the response.
    let (scale, origin) = (&near["transform"]["scale"][0], &near["transform"]["translate"][0]);
    let step = near["arcs"][arc][0][0].as_f64().unwrap();
    let lng = origin.as_f64().unwrap() + step * scale.as_f64().unwrap();
    assert!([106.80, 106.82].iter().any(|end| (lng - end).abs() < 1e-5), "{lng}");
}

#[test]
fn a_map_with_land_tells_it_from_sea_below_all_other_kinds() {
    let settings = |siaga: &Siaga| siaga.get("/map").into_string().unwrap();
    assert!(settings(&with_basemap()).contains("&quot;hasLand&quot;:false"));
    let land = r#"{"type":"Feature","properties":{"kind":"land"},"geometry":{"type":"Polygon","coordinates":[[[100,-8],[110,-8],[110,-6],[100,-6],[100,-8]]]}},"#;
    let siaga = with_file(&BASEMAP.replacen("[\n", &format!("[\n{land}\n"), 1));
    assert!(settings(&siaga).contains("&quot;hasLand&quot;:true"));
    let near = siaga.result("/v1/basemap?bbox=106.79,-6.2,106.83,-6.16&zoom=9");
    assert_eq!(shapes(&near), [("river", ""), ("land", ""), ("motorway", "")]);
    assert_eq!(shapes(&siaga.result("/v1/basemap?bbox=1,1,1.1,1.1&zoom=9")), []);
}

#[test]
fn a_box_limits_the_response_to_its_surroundings_and_without_one_everything_is_returned() {
    let siaga = with_basemap();
    assert_eq!(shapes(&siaga.result("/v1/basemap?bbox=1,1,1.1,1.1&zoom=16")), []);
    assert_eq!(shapes(&siaga.result("/v1/basemap?zoom=16")).len(), 5);
}

#[test]
fn the_page_names_the_version_that_caches_reuse_for_a_day() {
    let siaga = with_basemap();
    let page = siaga.get("/map?lang=en").into_string().unwrap();
    let (_, rest) = page.split_once("&quot;ground&quot;:&quot;").unwrap();
    let (version, _) = rest.split_once("&quot;").unwrap();
    assert!(page.contains("© &lt;OpenStreetMap&gt; contributors"), "{page}");
    let cached = |query: &str| {
        let address = format!("/v1/basemap?zoom=12{query}");
        let response = siaga.get(&address);
        assert_eq!(response.status(), Status::Ok);
        assert!(response.headers().get_one("ETag").is_some());
        response.headers().get_one("Cache-Control").unwrap().to_owned()
    };
    assert_eq!(cached(&format!("&revision={version}")), "public, max-age=86400, stale-if-error=86400");
    assert_eq!(cached("&revision=other"), "public, no-cache, stale-if-error=3600");
    assert_eq!(cached(""), "public, no-cache, stale-if-error=3600");
}

#[test]
fn a_server_without_a_file_shows_the_waterways_of_the_store() {
    let siaga = Siaga::start();
    assert_eq!(shapes(&siaga.result("/v1/basemap?zoom=14")), [("river", "Ciliwung")]);
    let names: Value = siaga.get("/map/names").into_json().unwrap();
    assert_eq!(names["places"], json!([]));
}

#[test]
fn the_search_has_the_places_of_the_base_map() {
    let names: Value = with_basemap().get("/map/names").into_json().unwrap();
    assert_eq!(names["places"], json!([["\"><script>", 106.81, -6.175]]));
}

fn streets(siaga: &Siaga, query: &str) -> Value {
    siaga.get(&format!("/map/streets?q={query}")).into_json::<Value>().unwrap()["result"].take()
}

#[test]
fn a_street_is_found_by_a_part_of_its_name_with_the_areas_that_it_touches() {
    let siaga = with_basemap();
    let area = |at: &str| {
        let found = siaga.result(&format!("/v1/areas/at?geoformat=geojson&{at}"));
        found["features"][0]["properties"]["area_id"].clone()
    };
    let found = streets(&siaga, "jalan");
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["name"], "Jalan <b>");
    let touched = [area("lat=-6.18&lng=106.801"), area("lat=-6.18&lng=106.819")];
    assert!(touched.iter().all(|area| found[0]["areas"].as_array().unwrap().contains(area)), "{found}");
    assert_eq!(streets(&siaga, "ALAN"), json!([]), "a word begins with the query");
    // A motorway without a name, a park and a place are no streets.
    assert_eq!(streets(&siaga, "script"), json!([]));
    assert_eq!(streets(&Siaga::start(), "jalan"), json!([]), "without a base map there are no streets");
}

#[test]
fn a_search_for_streets_is_bounded_and_nobody_stores_it() {
    let siaga = with_basemap();
    let response = siaga.get("/map/streets?q=jalan");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    for query in ["", "?q=", "?q=ja", "?q=j%20a", &format!("?q={}", "a".repeat(61)), "?q=jalan&q=raya"] {
        let address = format!("/map/streets{query}");
        let response = siaga.get(&address);
        assert_eq!(response.status(), Status::BadRequest, "{query}");
        let problem = response.into_json::<Value>().unwrap();
        assert_eq!(problem["validation"]["keys"], json!(["q"]), "{problem}");
    }
    let street = |number: usize| {
        let at = 106.80 + f64::from(u32::try_from(number).unwrap()) * 1e-4;
        json!({ "type": "Feature", "properties": { "kind": "street", "name": format!("Gang {number}") },
            "geometry": { "type": "LineString", "coordinates": [[at, -6.18], [at, -6.1801]] } })
    };
    let many: Vec<_> = (0..100).map(street).collect();
    let siaga = with_file(&json!({ "type": "FeatureCollection", "features": many }).to_string());
    assert_eq!(streets(&siaga, "gang").as_array().unwrap().len(), 8);
    assert_eq!(streets(&siaga, "gang%207")[0]["name"], "Gang 7", "a number is a whole number");
    assert_eq!(streets(&siaga, "gang%207").as_array().unwrap().len(), 1);
}
