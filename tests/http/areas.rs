//! Selection by city and province.

use rocket::http::{Header, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};
use siaga::folder::FolderWriter;
use siaga::model::Area;
use tempfile::TempDir;

use self::Expected::{Covered, Uncovered, Wrong};
use crate::fixture;
use crate::suite::support::{Siaga, assert_invalid, figment, json_of};

/// Flood addresses (the interface has three cities for them), ending with a question mark.
const OF_FLOODS: [&str; 4] =
    ["/v1/floods?", "/v1/floods?geoformat=cap&", "/v1/floods.geojson?", "/v1/floods/states?"];

/// Other addresses of areas.
const OF_AREAS: [&str; 5] = [
    "/v1/floods/archive?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z&",
    "/v1/floods/timeseries?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z&",
    "/v1/alerts?",
    "/v1/areas?level=city&",
    "/v1/changes?",
];

/// Expected outcome: areas, a response with an uncovered city, or a 400 for a parameter.
#[derive(Clone, Copy)]
enum Expected {
    Covered,
    Uncovered,
    Wrong(&'static str, &'static str),
}

/// Sends queries to all addresses of areas and of floods.
fn assert_selected(siaga: &Siaga, queries: &[(&str, Expected, Expected)]) {
    for (query, of_areas, of_floods) in queries {
        let addresses = OF_AREAS.map(|address| (address, of_areas)).into_iter();
        for (address, expected) in addresses.chain(OF_FLOODS.map(|address| (address, of_floods))) {
            let response = siaga.client.get(format!("{address}{query}")).dispatch();
            match expected {
                Wrong(key, message) => assert_invalid(response, "query", &[key], message),
                Uncovered => assert_not_covered(&response, address),
                Covered => {
                    assert_eq!(response.status(), Status::Ok, "{address}{query}");
                    assert_eq!(response.headers().get_one("Siaga-Not-Covered"), None, "{address}{query}");
                }
            }
        }
    }
}

#[test]
fn a_selection_without_areas_is_400_with_the_existing_codes() {
    let siaga = Siaga::start();
    let other = Wrong("admin", "\"admin\" must be one of [ID-JB, ID-JK]");
    let apart = Wrong("admin", "\"admin\" must be one of [ID-JB]");
    assert_selected(
        &siaga,
        &[
            // It is configured, but no area has it.
            ("city=sby", Wrong("city", "\"city\" must be one of [bdg, jbd]"), Uncovered),
            ("city=x", Wrong("city", "[bdg, jbd]"), Wrong("city", "\"city\" must be one of [bdg, jbd, sby]")),
            ("admin=ID-AC", other, other),
            // Each has areas, but none has both.
            ("city=bdg&admin=ID-JK", apart, apart),
            ("city=bdg&admin=ID-JB", Covered, Covered),
            ("city=&admin=", Covered, Covered),
        ],
    );
    let stream = siaga.get("/v1/changes/stream?city=sby");
    assert_invalid(stream, "query", &["city"], "one of [bdg, jbd]");
    let both = siaga.get("/v1/floods?city=sby&admin=ID-AC");
    assert_invalid(both, "query", &["admin"], "one of [ID-JB, ID-JK]");
}

fn assert_not_covered(response: &LocalResponse<'_>, address: &str) {
    let header = |name| response.headers().get_one(name);
    assert_eq!((response.status(), header("Siaga-Not-Covered")), (Status::Ok, Some("city")), "{address}");
    let status = (header("Siaga-Data-Status"), header("Siaga-Data-As-Of"));
    assert_eq!(status, (Some("unknown"), None), "{address}");
    let exposed = header("Access-Control-Expose-Headers").unwrap_or_default();
    assert!(exposed.split(", ").any(|name| name == "Siaga-Not-Covered"), "{exposed}");
}

#[test]
fn a_known_city_without_areas_is_empty_and_marked_as_not_covered_in_every_format() {
    let figment = figment()
        .merge(("siaga.sources.desk.subject", "bpbd"))
        .merge(("siaga.sources.desk.every", "10m"))
        .merge(("siaga.sources.desk.covers", ["floods"]));
    let siaga = Siaga::with(figment, |builder| builder);
    let get = |address: &str| siaga.client.get(format!("/v1/{address}")).dispatch();
    let coverage = json!({ "city": "sby", "covered": false, "cities": ["bdg", "jbd"] });
    for (address, pointer) in [
        ("floods?city=sby", "/result/objects/output/geometries"),
        ("floods?city=sby&minimum_state=1&admin=ID-JK", "/result/objects/output/geometries"),
        ("floods?city=sby&geoformat=geojson", "/result/features"),
        ("floods?city=sby&bbox=106,-7,107,-6&geoformat=geojson", "/result/features"),
        ("floods/states?city=sby", "/result"),
    ] {
        let response = get(address);
        assert_not_covered(&response, address);
        let tag = response.headers().get_one("ETag").unwrap().to_owned();
        let body = json_of(response);
        assert_eq!(body.pointer(pointer), Some(&json!([])), "{body}");
        assert_eq!(body["coverage"], coverage, "{body}");
        let again =
            siaga.client.get(format!("/v1/{address}")).header(Header::new("If-None-Match", tag)).dispatch();
        assert_eq!(again.status(), Status::NotModified);
        assert_eq!(again.headers().get_one("Siaga-Not-Covered"), Some("city"), "{address}");
    }
    for address in ["floods.geojson?city=sby", "floods.topojson?city=sby", "floods?city=sby&geoformat=cap"] {
        assert_not_covered(&get(address), address);
    }
    let feed = get("floods?city=sby&format=xml&geoformat=cap").into_string().unwrap();
    let subtitle = feed.split_once("<subtitle>").unwrap().1.split_once("</subtitle>").unwrap().0;
    assert!(subtitle.contains("does not cover the city sby") && !feed.contains("<entry>"), "{feed}");
    let covered = get("floods?city=bdg&geoformat=cap");
    assert_ne!(covered.headers().get_one("Siaga-Data-Status"), Some("unknown"));
    assert!(!covered.into_string().unwrap().contains("subtitle"));
    assert_eq!(json_of(get("floods?city=bdg"))["coverage"], Value::Null);
    assert_eq!(get("reports?city=bdg").headers().get_one("Siaga-Not-Covered"), None);
}

#[test]
fn codes_of_areas_need_not_be_configured() {
    let siaga = Siaga::with_setting("siaga.areas.cities", ["other"]);
    assert_selected(
        &siaga,
        &[
            ("city=bdg", Covered, Covered),
            ("city=other", Wrong("city", "one of [bdg, jbd]"), Uncovered),
            ("city=sby", Wrong("city", "one of [bdg, jbd]"), Uncovered),
        ],
    );
    assert_eq!(siaga.get("/v1/reports?city=bdg").status(), Status::Ok);
    assert_invalid(siaga.get("/v1/reports?city=sby"), "query", &["city"], "one of [other, ID-AC, ");
}

/// A service with these areas alone, in memory.
fn with_areas(areas: impl Iterator<Item = Area>) -> (Siaga, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let writer = FolderWriter::create(folder.path()).unwrap();
    let mut file = writer.areas().unwrap();
    areas.for_each(|area| file.write(&area).unwrap());
    file.finish().unwrap();
    let dataset = folder.path().to_str().unwrap();
    let figment = figment().merge(("siaga.store", "memory")).merge(("siaga.dataset", dataset));
    (Siaga::with(figment, |builder| builder), folder)
}

#[test]
fn while_there_are_no_areas_the_configured_codes_can_be_selected() {
    let (siaga, _folder) = with_areas(std::iter::empty());
    let wrong = Wrong("city", "one of [bdg, jbd, sby]");
    assert_selected(&siaga, &[("city=sby&admin=ID-JK", Covered, Uncovered), ("city=x", wrong, wrong)]);
}

#[test]
fn no_city_can_be_selected_if_no_area_has_one() {
    let areas = fixture::areas();
    let without = areas.iter().map(|area| Area { city_code: String::new(), ..area.clone() });
    let (siaga, _folder) = with_areas(without);
    let absent = Wrong("city", "\"city\" must be absent: no loaded area has a city");
    assert_selected(&siaga, &[("city=jbd", absent, Uncovered), ("admin=ID-JK", Covered, Covered)]);
}

#[test]
fn other_layers_are_selected_by_configured_codes_and_by_the_cities_of_areas() {
    let figment =
        figment().merge(("siaga.areas.cities", ["its"])).merge(("siaga.areas.provinces", ["ID-ITS"]));
    let siaga = Siaga::with(figment, |builder| builder);
    let of_reports = "one of [its, ID-ITS, bdg, jbd]";
    for (path, cities) in [
        ("reports", Some((&["its", "ID-ITS", "jbd"][..], of_reports))),
        ("floodgauges", Some((&["its", "ID-ITS"], "one of [ID-ITS, its]"))),
        ("infrastructure/pumps", Some((&["its", "ID-ITS", "jbd"], "one of [ID-ITS, its, bdg, jbd]"))),
        ("admin", None),
    ] {
        let get = |query: &str| siaga.client.get(format!("/v1/{path}?{query}")).dispatch();
        assert_eq!(get("admin=ID-ITS").status(), Status::Ok, "{path}");
        assert_invalid(get("admin=ID-JK"), "query", &["admin"], "one of [ID-ITS]");
        match cities {
            Some((cities, wrong)) => {
                for city in cities {
                    assert_eq!(get(&format!("city={city}")).status(), Status::Ok, "{path} {city}");
                }
                assert_invalid(get("city=x"), "query", &["city"], wrong);
            }
            None => assert_eq!(get("city=x").status(), Status::Ok, "{path} has no city"),
        }
    }
}
