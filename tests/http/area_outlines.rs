//! `/areas`: outlines without states, one area with its state; and the parameter `bbox`.

use rocket::http::Status;
use serde_json::{Value, json};

use crate::suite::support::{Siaga, assert_invalid, each, properties};

/// The part of the map that only areas 10 and 30 touch.
const EAST: &str = "106.841,-6.189,106.859,-6.181";

#[test]
fn local_areas_have_names_and_a_label_position_but_no_state() {
    let siaga = Siaga::start();
    let result = siaga.result("/v1/areas");
    assert_eq!(each(&result, "area_id"), ["1", "2", "5", "10", "30"]);
    let mut first = properties(&result)[0].clone();
    let label = first.as_object_mut().unwrap().remove("label").unwrap();
    assert_eq!(
        first,
        json!({ "area_id": "1", "geom_id": first["geom_id"], "area_name": "RW 01", "parent_name": "GROGOL", "city_name": first["city_name"] })
    );
    assert_eq!(label, json!([106.805, -6.195]));
    assert_eq!(each(&siaga.result("/v1/areas?city=jbd"), "area_id").len(), 4);
}

#[test]
fn larger_areas_and_cities_are_dissolved() {
    let siaga = Siaga::start();
    let parents = siaga.result("/v1/areas?level=parent");
    let grogol = properties(&parents).into_iter().find(|ids| ids["parent_name"] == "GROGOL").unwrap();
    assert_eq!(grogol["areas"], 2);
    assert!(grogol.get("area_id").is_none() && grogol.get("state").is_none(), "{grogol}");
    let cities = siaga.result("/v1/areas?level=city&geoformat=geojson");
    let names = cities["features"].as_array().unwrap().iter().map(|city| &city["properties"]["city_name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["BANDUNG", "JAKARTA BARAT"]);
    let polygons = cities["features"][1]["geometry"]["coordinates"].as_array().unwrap();
    let rings: Vec<_> = polygons.iter().map(|rings| rings.as_array().unwrap().len()).collect();
    assert_eq!(rings, [1, 1], "areas 1, 2 and 5 are one polygon, in whose hole is a part of area 10");
    let jakarta = &cities["features"][1]["properties"];
    assert_eq!(jakarta["areas"], 4);
    assert_eq!(jakarta.get("parent_name"), None);
}

#[test]
fn a_versioned_address_of_the_areas_is_cacheable_for_a_day() {
    let siaga = Siaga::start();
    let got = |address: &str| {
        let response = siaga.get(address);
        let header = |name| response.headers().get_one(name).map(str::to_owned);
        let (control, location) = (header("Cache-Control").unwrap(), header("Content-Location"));
        (control, location, response.into_string().unwrap())
    };
    let query = "level=parent&bbox=106.7,-6.3,106.9,-6.1";
    let (control, location, body) = got(&format!("/v1/areas?{query}"));
    let present = location.unwrap();
    assert!(present.starts_with(&format!("/v1/areas?{query}&revision=")), "{present}");
    assert!(control.contains("no-cache"), "{control}");

    let (control, location, known) = got(&present);
    assert!(control.contains("max-age=86400"), "{control}");
    assert_eq!((location, known), (None, body));

    let (control, location, _) = got(&format!("/v1/areas?revision=0000000000000000&{query}"));
    assert!(control.contains("no-cache"), "{control}");
    assert_eq!(location, Some(present), "the same parameters, with the present version");
}

#[test]
fn one_area_is_shown_with_its_state() {
    let siaga = Siaga::start();
    let area = siaga.result("/v1/areas/5");
    assert_eq!(each(&area, "area_id"), ["5"]);
    assert_eq!(each(&area, "state"), [2]);
    assert_eq!(each(&siaga.result("/v1/areas/1"), "state"), [Value::Null]);
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    assert_eq!(each(&siaga.result("/v1/areas/1"), "state"), [4]);
    assert_eq!(siaga.get("/v1/areas/999").status(), Status::NotFound);
}

#[test]
fn the_area_at_a_place_is_found() {
    let siaga = Siaga::start();
    let found = siaga.result("/v1/areas/at?lat=-6.195&lng=106.805");
    assert_eq!(each(&found, "area_id"), ["1"]);
    let inside_the_hole = siaga.result("/v1/areas/at?lat=-6.175&lng=106.815");
    assert_eq!(each(&inside_the_hole, "area_id"), ["10"]);
    assert_eq!(siaga.get("/v1/areas/at?lat=0&lng=0").status(), Status::NotFound);
}

#[test]
fn a_part_of_the_map_has_only_the_areas_that_touch_it() {
    let siaga = Siaga::start();
    let ids = |path: &str| each(&siaga.result(&format!("{path}bbox={EAST}")), "area_id");
    assert_eq!(ids("/v1/areas?"), ["10", "30"]);
    assert_eq!(ids("/v1/floods?"), ["10", "30"]);
    assert_eq!(ids("/v1/floods?minimum_state=1&"), ["30"]);
    let reports = |bbox: &str| each(&siaga.result(&format!("/v1/reports?bbox={bbox}")), "pkey").len();
    assert_eq!(reports("106.80,-6.20,106.81,-6.17"), 3, "one in area 1 and two in area 5");
    assert_eq!(reports("106.831,-6.199,106.839,-6.191"), 1);
    assert_eq!(reports("0,0,1,1"), 0);
    let built = |path: &str| each(&siaga.result(&format!("/v1/infrastructure{path}")), "name");
    assert_eq!(built("?bbox=106.811,-6.199,106.819,-6.191"), ["Pompa B", "Ciliwung"]);
    assert_eq!(built("?bbox=106.831,-6.199,106.839,-6.191"), ["Pompa A"]);
    assert_eq!(built("/pumps?bbox=106.7,-6.3,106.82,-6.1"), ["Pompa B"]);
    assert_eq!(built("?type=waterways&bbox=106.7,-6.3,106.9,-6.1"), ["Ciliwung"]);
    assert_eq!(built("?bbox=0,0,1,1"), Vec::<Value>::new());
}

#[test]
fn a_part_with_all_areas_is_the_whole_map_and_is_not_rendered_again() {
    let siaga = Siaga::with_setting("siaga.metrics.enabled", true);
    let tag = |address: &str| siaga.get(address).headers().get_one("ETag").unwrap().to_owned();
    let misses = || siaga.metric("siaga_cache_misses_total");
    for address in [
        "/v1/floods?",
        "/v1/areas?level=parent&",
        "/v1/floods?city=bdg&geoformat=geojson&",
        "/v1/infrastructure?",
    ] {
        let whole = tag(address);
        let before = misses();
        for west in [90.0, 99.5, 106.7, 106.8] {
            assert_eq!(tag(&format!("{address}bbox={west},-20,140,10")), whole, "{address} {west}");
        }
        assert_eq!(misses(), before, "{address}");
        assert_ne!(tag(&format!("{address}bbox=106.7,-6.1801,106.81,-6.17")), whole, "a part");
    }
    let reports = tag("/v1/reports");
    assert_eq!(tag("/v1/reports?bbox=-180,-90,180,90"), reports);
    // A box without areas filters nothing; elsewhere only areas outside the box are filtered out.
    let before = misses();
    let part = tag("/v1/floods?bbox=106.7,-6.5,106.81,-5");
    assert_eq!(tag("/v1/floods?bbox=-10,-6.3,106.81,80"), part);
    assert_eq!(misses(), before + 1.0);
    assert_eq!(each(&siaga.result("/v1/floods?bbox=0,0,1,1"), "area_id"), Vec::<Value>::new());
}

#[test]
fn outlines_of_up_to_a_hundred_areas_are_requested_together() {
    let siaga = Siaga::start();
    assert_eq!(each(&siaga.result("/v1/areas?ids=30,5,5,999"), "area_id"), ["5", "30"]);
    assert_eq!(each(&siaga.result("/v1/areas?ids=30,5&city=bdg"), "area_id"), ["30"]);
    let many = |count: u32| (0..count).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(siaga.get(&format!("/v1/areas?ids={}", many(100))).status(), Status::Ok);
    assert_invalid(siaga.get(&format!("/v1/areas?ids={}", many(101))), "query", &["ids"], "must be 1 to 100");
}
