//! Addresses that clients of `PetaBencana` ask for, with the fields that these read.

use rocket::http::{Method, Status};
use serde_json::json;

use crate::suite::support::{ADMIN_KEY, Siaga, each, json_of, key, properties};

const MOUNTS: [&str; 3] = ["/v1", "/data", ""];

/// A service at several paths.
fn siaga() -> Siaga {
    Siaga::with_setting("siaga.also_at", ["/data", "/"])
}

#[test]
fn there_are_no_needs_and_a_map_that_asks_for_them_shows_the_number_of_reports() {
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
        assert_eq!(each(&cities, "code"), ["ID-JB", "ID-JK"]);
        assert_eq!(each(&cities, "name"), ["Jawa Barat", "DKI Jakarta"]);
    }
    let collection = siaga.result("/v1/cities?geoformat=geojson");
    assert_eq!(collection["features"].as_array().unwrap().len(), 2);
}

#[test]
fn a_place_lies_in_a_city_or_does_not() {
    let siaga = siaga();
    for mount in MOUNTS {
        let bounds = format!("{mount}/cities/bounds");
        for (code, name, lat, long, is_inside) in [
            ("ID-JK", "DKI Jakarta", "-6.195", "106.805", true),
            ("ID-JB", "Jawa Barat", "-6.195", "106.805", false),
            ("ID-JK", "DKI Jakarta", "0", "0", false),
            ("ID-JB", "Jawa Barat", "-6.195", "106.9", true),
        ] {
            let address = format!("{bounds}?admin={code}&geoformat=geojson&lat={lat}&long={long}");
            let expected = json!({ "pointInCity": is_inside, "cityName": name });
            assert_eq!(siaga.result(&address), expected, "{address}");
        }
    }
}

#[test]
fn regions_are_the_cities_each_with_a_code_of_its_own() {
    let siaga = siaga();
    for mount in MOUNTS {
        let regions = siaga.result(&format!("{mount}/regions"));
        let all = properties(&regions);
        let of = |id: &str, province: &str, city: &str, label: &serde_json::Value| {
            json!({
                "id": id, "region": province, "region_code": id, "city": city, "city_name": city, "label": label,
            })
        };
        let label = |index: usize| &all[index]["label"];
        assert_eq!(
            all,
            [
                of("sby", "", "Surabaya", label(0)),
                of("ID-JB/bdg/BANDUNG", "Jawa Barat", "BANDUNG", label(1)),
                of("ID-JK/jbd/JAKARTA BARAT", "DKI Jakarta", "JAKARTA BARAT", label(2)),
            ]
        );
        for region in &all {
            let id = region["id"].as_str().unwrap();
            let one = siaga.result(&format!("{mount}/regions/bounds?admin={}", id.replace(' ', "%20")));
            assert_eq!(properties(&one), std::slice::from_ref(region));
        }
    }
    let collection = siaga.get("/v1/regions.geojson").into_string().unwrap();
    assert!(collection.contains(r#""city":"BANDUNG""#), "{collection}");
}

#[test]
fn points_of_a_report_cannot_be_set() {
    let siaga = siaga();
    let response = siaga.ask(Method::Patch, "/v1/reports/1", r#"{"points":1}"#);
    assert_eq!(response.status(), Status::MethodNotAllowed);
}

#[test]
fn responses_differ_from_cognicity_as_the_page_about_switching_over_says() {
    let siaga = Siaga::start();
    let get = |address: &str| siaga.client.get(address.to_owned()).dispatch();
    assert_eq!(get("/v1/cards").status(), Status::MethodNotAllowed);
    assert_eq!(get("/v1/infrastructure").status(), Status::Ok);
    assert_eq!(get("/v1/feeds").status(), Status::Forbidden, "not 401");
    let feed = get("/v1/floods?format=xml&geoformat=cap");
    assert_eq!(feed.headers().get_one("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    let month = "start=2016-11-19T00:00:00Z&end=2016-12-19T00:00:00Z";
    assert_eq!(get(&format!("/v1/reports/archive?{month}")).status(), Status::Ok);
    let root = json_of(get("/"));
    assert!(root["version"].is_null() && root["result"]["version"].is_string(), "{root}");
    let card = format!("/v1/cards/{}", siaga.card());
    let photo = json!({ "image_url": "https://photos.example/a.jpg" }).to_string();
    assert_eq!(siaga.ask(Method::Patch, &card, photo).status(), Status::Conflict);
    let report = |disaster: &str, depth: u32| {
        let data = json!({ "report_type": disaster, "flood_depth": depth });
        let place = json!({ "lat": -6.195, "lng": 106.805 });
        let body = json!({
            "disaster_type": disaster, "card_data": data, "created_at": "2016-12-19T16:00:00Z", "location": place,
        });
        siaga.ask(Method::Put, &card, body.to_string()).status()
    };
    assert_eq!(report("assessment", 1), Status::BadRequest);
    assert_eq!(report("flood", 250), Status::Ok);
    let images = siaga.client.get(format!("{card}/images")).header(key(ADMIN_KEY)).dispatch();
    assert_eq!(images.status(), Status::Ok, "without a type");
}
