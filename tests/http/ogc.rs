//! OGC API – Features below `/v1/ogc`.

use std::collections::BTreeMap;
use std::time::Duration;

use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};

use crate::fixture;
use crate::suite::support::{Siaga, assert_invalid, json_of};

pub(crate) const BASE: &str = "/v1/ogc/collections";
/// The collections in order, and their geometry type.
pub(crate) const COLLECTIONS: [(&str, Option<&str>); 10] = [
    ("floods", Some("MultiPolygon")),
    ("flooded", Some("MultiPolygon")),
    ("areas", Some("MultiPolygon")),
    ("reports", Some("Point")),
    ("gauges", Some("Point")),
    ("infrastructure", None),
    ("floodgates", Some("Point")),
    ("pumps", Some("Point")),
    ("waterways", Some("LineString")),
    ("alerts", Some("MultiPolygon")),
];

/// A document at a path or an absolute address.
pub(crate) fn document(siaga: &Siaga, address: &str) -> Value {
    let response = siaga.get(address.trim_start_matches("http://localhost"));
    assert_eq!(response.status(), Status::Ok, "{address}");
    json_of(response)
}

/// The address of the first link of a relation.
pub(crate) fn link(document: &Value, rel: &str) -> Option<String> {
    let link = document["links"].as_array().unwrap().iter().find(|link| link["rel"] == rel)?;
    Some(link["href"].as_str().unwrap().to_owned())
}

/// The features of a collection, from the first page to the last by the links between them.
pub(crate) fn all(siaga: &Siaga, collection: &str, query: &str) -> Vec<Value> {
    let mut address = format!("{BASE}/{collection}/items?{query}");
    let mut found = Vec::new();
    for _ in 0..100 {
        let page = document(siaga, &address);
        let features = page["features"].as_array().unwrap();
        assert_eq!(page["numberReturned"], features.len());
        found.extend(features.iter().cloned());
        let Some(next) = link(&page, "next") else { return found };
        address = next;
    }
    panic!("the pages of {collection} never end");
}

pub(crate) fn ids(features: &[Value]) -> Vec<Value> {
    features.iter().map(|feature| feature["id"].clone()).collect()
}

/// The states of all areas at the time of a query.
pub(crate) fn states(siaga: &Siaga, query: &str) -> BTreeMap<u64, u64> {
    let state = |document: &Value| {
        (document["id"].as_u64().unwrap(), document["properties"]["state"].as_u64().unwrap())
    };
    all(siaga, "floods", query).iter().map(state).collect()
}

/// Geometries by feature id. Areas are always `MultiPolygon`s in collections.
fn located(features: &[Value]) -> BTreeMap<String, Value> {
    let located = |feature: &Value| {
        let mut geometry = feature["geometry"].clone();
        if geometry["type"] == "Polygon" {
            geometry = json!({ "type": "MultiPolygon", "coordinates": [geometry["coordinates"]] });
        }
        (feature["id"].to_string(), geometry)
    };
    features.iter().map(located).collect()
}

#[test]
fn the_pages_of_a_collection_together_have_the_features_of_the_map_by_number() {
    let siaga = Siaga::start();
    for (collection, address) in [
        ("floods", "floods.geojson"),
        ("areas", "areas.geojson"),
        ("reports", "reports.geojson?timeperiod=604800"),
        ("gauges", "floodgauges.geojson?timeperiod=604800"),
        ("infrastructure", "infrastructure.geojson"),
        ("alerts", "alerts.geojson"),
    ] {
        let map = document(&siaga, &format!("/v1/{address}"))["features"].as_array().unwrap().clone();
        assert!(!map.is_empty(), "{collection}");
        for limit in 1..=map.len() + 1 {
            let pages = all(&siaga, collection, &format!("limit={limit}"));
            assert_eq!(pages.len(), map.len(), "{collection}, {limit} on a page");
            assert_eq!(located(&pages), located(&map), "{collection}, {limit} on a page");
            assert!(pages.is_sorted_by_key(|feature| feature["id"].as_u64()), "{collection}");
        }
    }
}

#[test]
fn reports_that_arrive_between_two_pages_move_no_other() {
    let siaga = Siaga::start();
    let before = ids(&all(&siaga, "reports", ""));
    let page = document(&siaga, &format!("{BASE}/reports/items?limit=2"));
    let body = json!({
        "card_data": { "report_type": "wind", "impact": 1 }, "created_at": fixture::now(),
        "location": { "lat": -6.15, "lng": 106.8 },
    });
    let address = format!("/v1/cards/{}", siaga.card());
    assert_eq!(siaga.request(Method::Put, &address, body.to_string()).status(), Status::Ok);
    let next = link(&page, "next").unwrap();
    let rest = ids(&all(&siaga, "reports", next.split_once('?').unwrap().1));
    let read = [ids(page["features"].as_array().unwrap()), rest].concat();
    assert_eq!(read[..before.len()], before);
    assert_eq!(read.len(), before.len() + 1);
    let newest = all(&siaga, "reports", "impact=1&disaster_type=wind");
    assert!(ids(&newest).contains(&read[before.len()]), "answers on cards are columns");
}

#[test]
fn an_area_without_a_flood_has_state_0_and_its_label() {
    let siaga = Siaga::start();
    for area in ["5", "30"] {
        assert_eq!(siaga.delete(&format!("/v1/floods/{area}")).status(), Status::Ok);
    }
    let features = all(&siaga, "floods", "");
    assert!(!features.is_empty());
    for feature in &features {
        assert_eq!(feature["properties"]["state"], 0);
        assert_eq!(feature["properties"]["depth"], "Tidak ada banjir yang tercatat");
    }
    assert_eq!(ids(&all(&siaga, "floods", "state=0")), ids(&features));
    assert!(all(&siaga, "flooded", "").is_empty());
}

#[test]
fn the_floods_of_each_hour_of_the_past_are_right() {
    let siaga = Siaga::start();
    let at = |hour: u64| fixture::now().saturating_add(Duration::from_hours(hour));
    let mut states_then = states(&siaga, "");
    let mut past = Vec::new();
    for hour in 1..=73 {
        siaga.clock.set(at(hour));
        for (area, state) in &mut states_then {
            let address = format!("/v1/floods/{area}");
            let changed = match (area * 31 + hour * 17 + hour * hour) % 7 {
                0 if *state > 0 => {
                    *state = 0;
                    siaga.delete(&address)
                }
                code @ 1..=4 => {
                    *state = code;
                    siaga.put(&address, json!({ "state": code }).to_string())
                }
                _ => continue,
            };
            assert_eq!(changed.status(), Status::Ok);
        }
        past.push(states_then.clone());
    }
    siaga.clock.set(at(100));
    for (hour, expected) in (1..).zip(&past) {
        // Changes of one hour can be a few milliseconds apart.
        let then = at(hour).saturating_add(Duration::from_mins(30));
        assert_eq!(states(&siaga, &format!("limit=2&datetime={then}")), *expected, "hour {hour}");
        let flooded = ids(&all(&siaga, "flooded", &format!("limit=2&datetime={}/{then}", at(0))));
        let expected: Vec<_> =
            expected.iter().filter(|(_, state)| **state > 0).map(|(area, _)| *area).collect();
        assert_eq!(flooded, expected, "hour {hour}");
    }
}

#[test]
fn parameters_select_by_time_and_value_whatever_their_order() {
    let siaga = Siaga::start();
    assert_eq!(ids(&all(&siaga, "floods", "state=2")), [5]);
    assert!(all(&siaga, "floods", "state=2&city_name=nowhere").is_empty());
    let reports = all(&siaga, "reports", "");
    let created_at = reports[0]["properties"]["created_at"].as_str().unwrap();
    for query in [
        format!("datetime={created_at}"),
        format!("datetime={created_at}/{created_at}"),
        format!("created_at={created_at}"),
    ] {
        assert!(ids(&all(&siaga, "reports", &query)).contains(&reports[0]["id"]), "{query}");
    }
    let tag = |query: &str| {
        let response = siaga.client.get(format!("{BASE}/areas/items?{query}")).dispatch();
        response.headers().get_one("ETag").unwrap().to_owned()
    };
    assert_eq!(tag("limit=2&bbox=-180,-90,180,90"), tag("bbox=-180,-90,180,90&limit=2"));
}

#[test]
fn a_page_that_begins_after_an_import_is_refused() {
    let siaga = Siaga::start();
    let next = link(&document(&siaga, &format!("{BASE}/areas/items?limit=1")), "next").unwrap();
    let cursor = next.split_once("cursor=").unwrap().1;
    let (revision, area) = cursor.split_once('.').unwrap();
    let later = revision.parse::<u64>().unwrap() + 1;
    let address = format!("{BASE}/areas/items?limit=1&cursor={later}.{area}");
    assert_invalid(siaga.get(&address), "query", &["cursor"], "last import");
}

#[test]
fn hidden_reports_are_in_no_page() {
    let siaga = Siaga::start();
    assert!(ids(&all(&siaga, "reports", "")).contains(&json!(7)));
    let hide = r#"{"hidden":true,"reason":"shows a name"}"#;
    assert_eq!(siaga.request(Method::Put, "/v1/reports/7/visibility", hide).status(), Status::Ok);
    for query in ["", "limit=1", "pkey=7"] {
        assert!(!ids(&all(&siaga, "reports", query)).contains(&json!(7)), "{query}");
    }
    assert_eq!(siaga.get("/v1/ogc/collections/reports/items/7").status(), Status::NotFound);
}

#[test]
fn every_response_is_json_for_every_accept_header_and_in_the_language_of_the_reader() {
    let siaga = Siaga::start();
    let (text, features) = ("Accept-Encoding, Accept-Language", "Accept-Encoding");
    for (address, media_type, vary) in [
        ("/v1/ogc", "application/json", text),
        ("/v1/ogc/conformance", "application/json", text),
        ("/v1/ogc/api", "application/vnd.oai.openapi+json;version=3.0", text),
        ("/v1/ogc/collections", "application/json", text),
        ("/v1/ogc/collections/floods", "application/json", text),
        ("/v1/ogc/collections/floods/schema", "application/schema+json", text),
        ("/v1/ogc/collections/floods/queryables", "application/schema+json", text),
        ("/v1/ogc/collections/floods/items", "application/geo+json", features),
        ("/v1/ogc/collections/floods/items/1", "application/geo+json", features),
    ] {
        for accept in ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "image/png"] {
            let response = siaga.client.get(address).header(Header::new("Accept", accept)).dispatch();
            assert_eq!(response.status(), Status::Ok, "{address}: {accept}");
            assert_eq!(response.headers().get_one("Content-Type"), Some(media_type), "{address}: {accept}");
            assert_eq!(response.headers().get("Vary").collect::<Vec<_>>(), [vary], "{address}");
            assert!(json_of(response).is_object());
        }
    }
    for (address, title) in [
        ("/v1/ogc", "Data for GIS programs"),
        ("/v1/ogc?lang=id", "Data untuk program SIG"),
        ("/v1/ogc/collections/gauges", "Gauges"),
    ] {
        let response = siaga.client.get(address).header(Header::new("Accept-Language", "en")).dispatch();
        assert_eq!(json_of(response)["title"], title, "{address}");
    }
}
