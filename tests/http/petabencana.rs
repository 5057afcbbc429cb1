//! Addresses and fields that clients of `PetaBencana` use.

use rocket::http::{Method, Status};
use serde_json::json;

use crate::suite::support::{Siaga, each, json_of, properties};

const MOUNTS: [&str; 3] = ["/v1", "/data", ""];

/// A service at several paths.
fn siaga() -> Siaga {
    Siaga::with_setting("siaga.also_at", ["/data", "/"])
}

#[test]
fn needs_are_empty_and_a_map_that_requests_them_shows_the_number_of_reports() {
    let siaga = siaga();
    for mount in MOUNTS {
        for query in ["", "?training=false&admin=ID-JK", "?training=true&admin=undefined", "?timeperiod=x"] {
            let needs = siaga.result(&format!("{mount}/needs/{query}"));
            let output = json!({ "type": "GeometryCollection", "geometries": [] });
            assert_eq!(needs, json!({ "type": "Topology", "objects": { "output": output }, "arcs": [] }));
        }
        let summary = siaga.result(&format!("{mount}/stats/reportsSummary?timeperiod=3600"));
        assert!(summary["total number of reports"].as_u64().is_some_and(|count| count > 0), "{summary}");
    }
}

#[test]
fn cities_are_the_provinces() {
    let siaga = siaga();
    for mount in MOUNTS {
        let cities = siaga.result(&format!("{mount}/cities"));
        assert_eq!(cities, siaga.result(&format!("{mount}/admin")));
        assert_eq!(each(&cities, "name"), ["Jawa Barat", "DKI Jakarta"]);
    }
    let collection = siaga.result("/v1/cities?geoformat=geojson");
    assert_eq!(collection["features"].as_array().unwrap().len(), 2);
}

#[test]
fn the_bounds_of_a_city_report_whether_they_contain_a_place() {
    let siaga = siaga();
    for (mount, code, name, lng, is_inside) in [
        ("/v1", "ID-JK", "DKI Jakarta", "106.805", true),
        ("/data", "ID-JB", "Jawa Barat", "106.805", false),
        ("", "ID-JB", "Jawa Barat", "106.9", true),
    ] {
        let address = format!("{mount}/cities/bounds?admin={code}&geoformat=geojson&lat=-6.195&long={lng}");
        let expected = json!({ "pointInCity": is_inside, "cityName": name });
        assert_eq!(siaga.result(&address), expected, "{address}");
    }
}

#[test]
fn regions_are_the_cities_each_with_a_code_of_its_own() {
    let siaga = siaga();
    let all = properties(&siaga.result("/v1/regions"));
    let expected = [
        ("/v1", "sby", "", "Surabaya"),
        ("/data", "ID-JB/bdg/BANDUNG", "Jawa Barat", "BANDUNG"),
        ("", "ID-JK/jbd/JAKARTA BARAT", "DKI Jakarta", "JAKARTA BARAT"),
    ];
    assert_eq!(all.len(), expected.len());
    for (region, (mount, id, province, city)) in all.iter().zip(expected) {
        let described = json!({ "id": id, "region": province, "region_code": id, "city": city,
                                "city_name": city, "label": region["label"] });
        assert_eq!(*region, described);
        assert_eq!(properties(&siaga.result(&format!("{mount}/regions"))), all, "{mount}");
        let one = siaga.result(&format!("{mount}/regions/bounds?admin={}", id.replace(' ', "%20")));
        assert_eq!(properties(&one), std::slice::from_ref(region));
    }
    let collection = siaga.get("/v1/regions.geojson").into_string().unwrap();
    assert!(collection.contains(r#""city":"BANDUNG""#), "{collection}");
}

#[test]
fn responses_differ_from_cognicity_as_documented() {
    let siaga = Siaga::start();
    for (address, status) in [
        ("/v1/cards", Status::MethodNotAllowed),
        ("/v1/infrastructure", Status::Ok),
        ("/v1/feeds", Status::Forbidden),
        ("/v1/reports/archive?start=2016-11-19T00:00:00Z&end=2016-12-19T00:00:00Z", Status::Ok),
    ] {
        assert_eq!(siaga.get(address).status(), status, "{address}");
    }
    let points = siaga.request(Method::Patch, "/v1/reports/1", r#"{"points":1}"#);
    assert_eq!(points.status(), Status::MethodNotAllowed);
    let feed = siaga.get("/v1/floods?format=xml&geoformat=cap");
    assert_eq!(feed.headers().get_one("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    let root = json_of(siaga.get("/"));
    assert!(root["version"].is_null() && root["result"]["version"].is_string(), "{root}");
    let card = format!("/v1/cards/{}", siaga.card());
    let photo = json!({ "image_url": "https://photos.example/a.jpg" }).to_string();
    assert_eq!(siaga.request(Method::Patch, &card, photo).status(), Status::Conflict);
    let report = |disaster: &str, depth: u32| {
        let body = json!({ "disaster_type": disaster, "created_at": "2016-12-19T16:00:00Z",
                           "card_data": { "report_type": disaster, "flood_depth": depth },
                           "location": { "lat": -6.195, "lng": 106.805 } });
        siaga.request(Method::Put, &card, body.to_string()).status()
    };
    assert_eq!(report("assessment", 1), Status::BadRequest);
    assert_eq!(report("flood", 250), Status::Ok);
    let images = format!("{card}/images");
    assert_eq!(siaga.request(Method::Get, &images, "").status(), Status::Ok, "without a type");
}
