//! `bbox` across the 180th meridian, on every route that takes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rocket::http::{Method, Status};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::suite::support::{Siaga, figment, json_of, partner_report};

/// Each box, and the places that lie in it: `both` on both sides of the meridian, `east` and `west` near it, `far` elsewhere.
const BOXES: [(&str, &[&str]); 4] = [
    ("179,-20,-179,-10", &["both", "east"]),
    ("177.5,-20,-177.5,-10", &["both", "east", "west"]),
    ("-179,-20,179,-10", &["far", "west"]),
    ("177.5,-20,178.5,-10", &["west"]),
];

/// The west and south edges of a place.
fn place(name: &str) -> [f64; 2] {
    match name {
        "east" => [-179.5, -17.0],
        "west" => [178.0, -17.0],
        "far" => [10.0, -17.0],
        _ => [179.9, -17.0],
    }
}

const NAMES: [&str; 4] = ["both", "east", "west", "far"];

fn square([x, y]: [f64; 2]) -> Value {
    json!([[[x, y], [x + 0.1, y], [x + 0.1, y + 0.1], [x, y + 0.1], [x, y]]])
}

/// Writes a file with a feature for each place.
fn write(file: &Path, feature: impl Fn(&str) -> (Value, &str, Value)) {
    let features: Vec<_> = NAMES
        .iter()
        .map(|name| {
            let (properties, kind, coordinates) = feature(name);
            let geometry = json!({ "type": kind, "coordinates": coordinates });
            json!({ "type": "Feature", "properties": properties, "geometry": geometry })
        })
        .collect();
    fs::write(file, json!({ "type": "FeatureCollection", "features": features }).to_string()).unwrap();
}

/// A service with an area, a pump, a report and a place of the base map at each place. The area `both` has two parts, and pump and
/// report of it lie on the meridian.
fn service() -> (Siaga, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    write(&file("areas.geojson"), |name| {
        let number = NAMES.iter().position(|other| *other == name).unwrap();
        let parts = [Some(place(name)), (name == "both").then_some([-180.0, -17.0])];
        let parts: Vec<_> = parts.into_iter().flatten().map(square).collect();
        (json!({ "area_id": number, "area_name": name }), "MultiPolygon", json!(parts))
    });
    write(&file("infrastructure.geojson"), |name| {
        (json!({ "type": "pumps", "name": name }), "Point", json!(point(name)))
    });
    write(&file("basemap.geojson"), |name| {
        (json!({ "kind": "place", "name": name }), "Point", json!(point(name)))
    });
    let figment = figment()
        .merge(("siaga.store", "memory"))
        .merge(("siaga.dataset", folder.path().to_str().unwrap()))
        .merge(("siaga.map.basemap.file", file("basemap.geojson")))
        .merge(("siaga.map.basemap.attribution", "nobody"));
    let siaga = Siaga::with(figment, |builder| builder);
    for (number, name) in NAMES.iter().enumerate() {
        let [lng, lat] = point(name);
        let post = json!({ "post_id": number, "text": name, "location": { "lng": lng, "lat": lat } });
        let sent = siaga.request(Method::Post, "/v1/feeds/partner", partner_report(post).to_string());
        assert_eq!(sent.status(), Status::Ok);
    }
    (siaga, folder)
}

/// A point of a place; that of `both` lies on the meridian.
fn point(name: &str) -> [f64; 2] {
    let [x, y] = place(name);
    if name == "both" { [180.0, y + 0.05] } else { [x + 0.05, y + 0.05] }
}

fn names(collection: &Value) -> BTreeSet<String> {
    let name = |feature: &Value| {
        let properties = &feature["properties"];
        let mut names = ["area_name", "name", "text"].iter().filter_map(|key| properties[key].as_str());
        names.next_back().unwrap().to_owned()
    };
    collection["features"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_west_that_is_greater_than_the_east_crosses_the_meridian_on_every_route() {
    let (siaga, _folder) = service();
    for (bbox, expected) in BOXES {
        let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        for address in [
            "/v1/floods.geojson?",
            "/v1/areas.geojson?",
            "/v1/infrastructure.geojson?",
            "/v1/infrastructure/pumps.geojson?",
            "/v1/reports.geojson?",
            "/v1/ogc/collections/floods/items?",
            "/v1/ogc/collections/areas/items?",
            "/v1/ogc/collections/infrastructure/items?",
            "/v1/ogc/collections/reports/items?",
        ] {
            let address = format!("{address}bbox={bbox}");
            assert_eq!(names(&json_of(siaga.get(&address))), expected, "{address}");
        }
    }
}

#[test]
fn the_base_map_has_both_sides_of_the_meridian() {
    let (siaga, _folder) = service();
    for (bbox, expected) in BOXES {
        let result = siaga.result(&format!("/v1/basemap?bbox={bbox}&zoom=12"));
        let shapes = result["objects"]["basemap"]["geometries"].as_array().unwrap();
        let found: BTreeSet<_> =
            shapes.iter().map(|shape| shape["properties"]["name"].as_str().unwrap()).collect();
        // Names a few pixels beyond the box are there too.
        assert!(expected.iter().all(|name| found.contains(name)), "{bbox}: {found:?}");
        for shape in shapes {
            let [scale, translate] = ["scale", "translate"].map(|member| &result["transform"][member][0]);
            let x = shape["coordinates"][0].as_f64().unwrap() * scale.as_f64().unwrap();
            let name = shape["properties"]["name"].as_str().unwrap();
            let lng = x + translate.as_f64().unwrap();
            assert!((lng - point(name)[0]).abs() < 0.01, "{bbox}, {name}: {lng}");
        }
    }
}
