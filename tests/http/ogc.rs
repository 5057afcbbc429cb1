//! OGC API – Features below `/v1/ogc`: what programs of GIS officers read.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};

use crate::fixture;
use crate::suite::support::{Siaga, assert_invalid, json_of};

const BASE: &str = "/v1/ogc/collections";

/// A document.
fn document(siaga: &Siaga, address: &str) -> Value {
    let response = siaga.client.get(address.to_owned()).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    json_of(response)
}

/// The features of a collection, from the first page to the last by the links between them.
fn all(siaga: &Siaga, collection: &str, query: &str) -> Vec<Value> {
    let mut address = format!("{BASE}/{collection}/items?{query}");
    let mut found = Vec::new();
    for _ in 0..100 {
        let page = document(siaga, &address);
        let features = page["features"].as_array().unwrap();
        assert_eq!(page["numberReturned"], features.len());
        found.extend(features.iter().cloned());
        let links = page["links"].as_array().unwrap();
        let Some(next) = links.iter().find(|link| link["rel"] == "next") else { return found };
        let next = next["href"].as_str().unwrap();
        address = next.replace("http://localhost", "");
    }
    panic!("the pages never end");
}

fn ids(features: &[Value]) -> Vec<Value> {
    features.iter().map(|feature| feature["id"].clone()).collect()
}

/// The identifiers and geometries of the features of a map resource, in the order of the identifiers. Areas are always several polygons
/// in collections.
fn of_map(siaga: &Siaga, address: &str, id: &str) -> Vec<(u64, Value)> {
    let features = siaga.result(address)["features"].as_array().unwrap().clone();
    let of = |feature: &Value| {
        let id = feature["properties"][id].as_str().unwrap().parse().unwrap();
        let geometry = &feature["geometry"];
        match geometry["type"].as_str() {
            Some("Polygon") => {
                (id, json!({ "type": "MultiPolygon", "coordinates": [geometry["coordinates"]] }))
            }
            _ => (id, geometry.clone()),
        }
    };
    let mut all: Vec<_> = features.iter().map(of).collect();
    all.sort_by_key(|(id, _)| *id);
    all
}

fn of_pages(features: &[Value]) -> Vec<(u64, Value)> {
    features.iter().map(|feature| (feature["id"].as_u64().unwrap(), feature["geometry"].clone())).collect()
}

#[test]
fn the_pages_of_a_collection_together_have_the_features_of_the_map() {
    let siaga = Siaga::start();
    let week = "timeperiod=604800&geoformat=geojson";
    for (collection, address, id) in [
        ("floods", "/v1/floods?geoformat=geojson".to_owned(), "area_id"),
        ("areas", "/v1/areas?geoformat=geojson".to_owned(), "area_id"),
        ("reports", format!("/v1/reports?{week}"), "pkey"),
    ] {
        let map = of_map(&siaga, &address, id);
        assert!(map.len() > 2, "{collection}");
        for limit in 1..=map.len() + 1 {
            let pages = all(&siaga, collection, &format!("limit={limit}"));
            assert_eq!(of_pages(&pages), map, "{collection}, {limit} on a page");
        }
    }
    let count = |address: &str| siaga.result(address)["features"].as_array().unwrap().len();
    for (collection, address) in [
        ("infrastructure", "/v1/infrastructure?geoformat=geojson"),
        ("alerts", "/v1/alerts?format=json&geoformat=geojson"),
        ("gauges", "/v1/floodgauges?timeperiod=86400&geoformat=geojson"),
    ] {
        let features = all(&siaga, collection, "limit=1");
        assert_eq!(features.len(), count(address), "{collection}");
        for feature in &features {
            let id = feature["id"].as_str().map_or_else(|| feature["id"].to_string(), str::to_owned);
            let mut alone = document(&siaga, &format!("{BASE}/{collection}/items/{id}"));
            alone.as_object_mut().unwrap().remove("links");
            assert_eq!(alone, *feature);
        }
    }
}

/// Stores a report of a new card.
fn report(siaga: &Siaga) {
    let holder = json!({ "username": "Ani", "network": "telegram", "language": "id" }).to_string();
    let card = json_of(siaga.ask(Method::Post, "/v1/cards", holder))["cardId"].as_str().unwrap().to_owned();
    let body = json!({
        "card_data": { "report_type": "wind", "impact": 1 }, "created_at": fixture::now().to_string(),
        "location": { "lat": -6.15, "lng": 106.8 },
    });
    let address = format!("/v1/cards/{card}");
    assert_eq!(siaga.ask(Method::Put, &address, body.to_string()).status(), Status::Ok);
}

#[test]
fn reports_that_arrive_between_two_pages_move_no_other() {
    let siaga = Siaga::start();
    let before = ids(&all(&siaga, "reports", ""));
    let page = document(&siaga, &format!("{BASE}/reports/items?limit=2"));
    report(&siaga);
    let next = page["links"].as_array().unwrap().iter().find(|link| link["rel"] == "next").unwrap();
    let query = next["href"].as_str().unwrap().split_once('?').unwrap().1.to_owned();
    let rest = ids(&all(&siaga, "reports", &query));
    let read = [ids(page["features"].as_array().unwrap()), rest].concat();
    assert_eq!(read[..before.len()], before);
    assert_eq!(read.len(), before.len() + 1);
    let newest = all(&siaga, "reports", "impact=1&disaster_type=wind");
    assert!(ids(&newest).contains(&read[before.len()]), "answers on cards are columns");
}

#[test]
fn an_area_without_a_flood_is_there_with_the_state_0_and_words_for_it() {
    let siaga = Siaga::start();
    for area in siaga.result("/v1/floods/states").as_array().unwrap() {
        let address = format!("/v1/floods/{}", area["area_id"].as_str().unwrap());
        assert_eq!(siaga.delete(&address).status(), Status::Ok);
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

/// A flood of 73 hours: the state of each area at each hour, from a seed.
fn flood(areas: &[u64]) -> Vec<HashMap<u64, u64>> {
    let mut seed = 2016_u64;
    let mut standing = HashMap::new();
    let hours = (0..73).map(|_| {
        for area in areas {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match seed >> 61 {
                0 => drop(standing.remove(area)),
                state @ 1..=4 => drop(standing.insert(*area, state)),
                _ => {}
            }
        }
        standing.clone()
    });
    hours.collect()
}

#[test]
fn the_floods_of_each_hour_of_the_past_are_right() {
    let siaga = Siaga::start();
    let areas: Vec<u64> = ids(&all(&siaga, "floods", "")).iter().map(|id| id.as_u64().unwrap()).collect();
    let mut before: HashMap<u64, u64> = HashMap::new();
    for feature in all(&siaga, "floods", "") {
        let state = feature["properties"]["state"].as_u64().filter(|state| *state > 0);
        before.extend(state.map(|state| (feature["id"].as_u64().unwrap(), state)));
    }
    let begin = fixture::now().after(Duration::from_mins(1));
    let at = |hour: u64| begin.after(Duration::from_hours(hour));
    let flood = flood(&areas);
    for (hour, states) in (0..).zip(&flood) {
        siaga.clock.set(at(hour));
        for area in &areas {
            let address = format!("/v1/floods/{area}");
            match (before.get(area), states.get(area)) {
                (old, Some(state)) if old != Some(state) => {
                    let body = json!({ "state": state }).to_string();
                    assert_eq!(siaga.put(&address, body).status(), Status::Ok);
                }
                (Some(_), None) => assert_eq!(siaga.delete(&address).status(), Status::Ok),
                _ => {}
            }
        }
        before.clone_from(states);
    }
    siaga.clock.set(at(100));
    for (hour, states) in (0..).zip(&flood) {
        // Changes of one hour can be a few milliseconds apart.
        let then = at(hour).after(Duration::from_mins(30));
        let found = all(&siaga, "floods", &format!("limit=2&datetime={then}"));
        assert_eq!(found.len(), areas.len());
        for feature in found {
            let state = states.get(&feature["id"].as_u64().unwrap()).copied().unwrap_or_default();
            assert_eq!(feature["properties"]["state"], state, "hour {hour}: {feature}");
        }
        let flooded = all(&siaga, "flooded", &format!("limit=2&datetime={}/{then}", at(0)));
        let expected: BTreeSet<_> = states.keys().copied().collect();
        assert_eq!(flooded.iter().map(|of| of["id"].as_u64().unwrap()).collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn parameters_select_by_place_time_and_value() {
    let siaga = Siaga::start();
    let everything = all(&siaga, "floods", "");
    let state = &everything.iter().find(|feature| feature["properties"]["state"] != 0).unwrap()["properties"];
    let selected = all(&siaga, "floods", &format!("state={}&city_name={}", state["state"], "nowhere"));
    assert_eq!(selected, Vec::<Value>::new());
    let selected = all(&siaga, "floods", &format!("state={}", state["state"]));
    assert!(!selected.is_empty() && selected.iter().all(|of| of["properties"]["state"] == state["state"]));
    assert!(all(&siaga, "areas", "bbox=0,50,1,51").is_empty());
    assert_eq!(all(&siaga, "areas", "bbox=-180,-90,180,90").len(), everything.len());
    assert_eq!(all(&siaga, "areas", "datetime=1999-01-01T00:00:00Z").len(), everything.len());

    let reports = all(&siaga, "reports", "");
    let [first, ..] = &reports[..] else { panic!("reports") };
    let made = first["properties"]["created_at"].as_str().unwrap();
    for query in [format!("datetime={made}"), format!("datetime={made}/{made}"), format!("created_at={made}")]
    {
        assert!(ids(&all(&siaga, "reports", &query)).contains(&first["id"]), "{query}");
    }
    assert!(all(&siaga, "reports", "datetime=../1999-01-01T00:00:00Z").is_empty());
    let [lng, lat] = [0, 1].map(|index| first["geometry"]["coordinates"][index].as_f64().unwrap());
    let near = format!("bbox={},{},{},{}", lng - 1e-4, lat - 1e-4, lng + 1e-4, lat + 1e-4);
    assert!(ids(&all(&siaga, "reports", &near)).contains(&first["id"]));
    // The order of parameters makes no difference to the response.
    let tag = |query: &str| {
        let address = format!("{BASE}/areas/items?{query}");
        siaga.client.get(address).dispatch().headers().get_one("ETag").unwrap().to_owned()
    };
    assert_eq!(tag("limit=2&bbox=-180,-90,180,90"), tag("bbox=-180,-90,180,90&limit=2"));
}

#[test]
fn a_page_that_begins_after_an_import_is_refused() {
    let siaga = Siaga::start();
    let page = document(&siaga, &format!("{BASE}/areas/items?limit=1"));
    let next = page["links"].as_array().unwrap().iter().find(|link| link["rel"] == "next").unwrap();
    let (address, cursor) = next["href"].as_str().unwrap().split_once("cursor=").unwrap();
    let (revision, area) = cursor.split_once('.').unwrap();
    let later = revision.parse::<u64>().unwrap() + 1;
    let address = format!("{}cursor={later}.{area}", address.trim_start_matches("http://localhost"));
    assert_invalid(siaga.client.get(address).dispatch(), "query", &["cursor"], "last import");
}

#[test]
fn hidden_reports_and_those_of_trainings_are_in_no_page() {
    let siaga = Siaga::start();
    assert!(ids(&all(&siaga, "reports", "")).contains(&json!(7)));
    let hide = r#"{"hidden":true,"reason":"shows a name"}"#;
    assert_eq!(siaga.ask(Method::Put, "/v1/reports/7/visibility", hide).status(), Status::Ok);
    for query in ["", "limit=1", "pkey=7", "f=json"] {
        assert!(!ids(&all(&siaga, "reports", query)).contains(&json!(7)), "{query}");
    }
    assert_eq!(siaga.get("/v1/ogc/collections/reports/items/7").status(), Status::NotFound);
}

#[test]
fn a_wrong_parameter_is_named_with_what_it_must_be() {
    let siaga = Siaga::start();
    for (address, key, says) in [
        ("floods/items?bogus=1", "bogus", "has bbox, datetime, limit, cursor, offset, startindex, area_id"),
        ("floods?limit=1", "limit", "is not a parameter of this address"),
        ("floods/items/1?limit=1", "limit", "is not a parameter of this address"),
        ("floods/items?limit=0", "limit", "from 1 to 10000"),
        ("floods/items?limit=-1", "limit", "from 1 to 10000"),
        ("floods/items?limit=1&limit=2", "limit", "given once"),
        ("floods/items?bbox=1,2,3", "bbox", "four numbers"),
        ("floods/items?bbox=1,2,3,x", "bbox", "four numbers"),
        ("floods/items?datetime=today", "datetime", "must be a time"),
        ("floods/items?datetime=../..", "datetime", "must be a time"),
        ("floods/items?offset=-1", "offset", "0 or more"),
        ("floods/items?datetime=2116-12-14T00:00:00Z", "datetime", "in the future"),
        ("floods/items?cursor=x", "cursor", "an earlier page"),
        ("floods/items?state=deep", "state", "a whole number"),
        ("reports/items?created_at=yesterday", "created_at", "YYYY-MM-DDTHH:mm:ss"),
        ("floods/items?f=xml", "f", "one of [json]"),
        ("floods/items/1?f=html", "f", "one of [json]"),
        ("floods?f=html", "f", "one of [json]"),
        ("floods/items?lang=xx", "lang", "one of [id, en]"),
    ] {
        let response = siaga.client.get(format!("{BASE}/{address}")).dispatch();
        assert_invalid(response, "query", &[key], says);
    }
    for address in [
        "nothing",
        "nothing/items",
        "floods/items/999",
        "floods/items/x",
        "reports/items/0",
        "gauges/items/x",
    ] {
        assert_eq!(
            siaga.client.get(format!("{BASE}/{address}")).dispatch().status(),
            Status::NotFound,
            "{address}"
        );
    }
    // A limit beyond the largest page gives the largest page.
    assert!(!all(&siaga, "areas", "limit=1000000").is_empty());
}

#[test]
fn programs_find_everything_from_the_landing_page() {
    let siaga = Siaga::start();
    let landing = document(&siaga, "/v1/ogc");
    let link = |of: &Value, rel: &str| {
        let links = of["links"].as_array().unwrap();
        let link = links.iter().find(|link| link["rel"] == rel).unwrap_or_else(|| panic!("{rel}"));
        (
            link["href"].as_str().unwrap().trim_start_matches("http://localhost").to_owned(),
            link["type"].clone(),
        )
    };
    let (api, media_type) = link(&landing, "service-desc");
    assert_eq!(media_type, "application/vnd.oai.openapi+json;version=3.0");
    let response = siaga.client.get(api).dispatch();
    assert_eq!(response.headers().get_one("Content-Type"), media_type.as_str());
    assert_eq!(json_of(response)["openapi"], "3.0.3");
    let classes = document(&siaga, &link(&landing, "conformance").0)["conformsTo"].clone();
    let class = |name: &str| format!("http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{name}");
    assert_eq!(classes, json!(["core", "geojson", "oas30"].map(class)));
    let collections = document(&siaga, &link(&landing, "data").0)["collections"].clone();
    let names: Vec<_> = collections.as_array().unwrap().iter().map(|of| of["id"].as_str().unwrap()).collect();
    let kinds = ["infrastructure", "floodgates", "pumps", "waterways"];
    assert_eq!(
        names,
        [&["floods", "flooded", "areas", "reports", "gauges"][..], &kinds, &["alerts"]].concat()
    );
    for collection in collections.as_array().unwrap() {
        let own = document(&siaga, &link(collection, "self").0);
        assert_eq!(own, *collection);
        let columns = document(&siaga, &link(collection, "describedby").0)["properties"].clone();
        let page = document(&siaga, &link(collection, "items").0);
        for feature in page["features"].as_array().unwrap() {
            let properties = feature["properties"].as_object().unwrap();
            assert_eq!(properties.len(), columns.as_object().unwrap().len());
            for (name, value) in properties {
                let is_of_type = match columns[name]["type"].as_str().unwrap() {
                    "integer" => value.is_i64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    _ => value.is_string(),
                };
                assert!(value.is_null() || is_of_type, "{name}: {value}");
            }
        }
    }
}

#[test]
fn every_response_is_json_whatever_accept_says_and_its_texts_are_in_the_language_of_the_reader() {
    let siaga = Siaga::start();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
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
        for accept in [browser, "text/html", "application/geo+json", "image/png"] {
            let response = siaga.client.get(address).header(Header::new("Accept", accept)).dispatch();
            assert_eq!(response.status(), Status::Ok, "{address}: {accept}");
            assert_eq!(response.headers().get_one("Content-Type"), Some(media_type), "{address}: {accept}");
            assert_eq!(response.headers().get("Vary").collect::<Vec<_>>(), [vary], "{address}");
            assert!(json_of(response).is_object());
        }
    }
    let title = |address: &str, language: &str| {
        let request = siaga.client.get(address.to_owned());
        let response = request.header(Header::new("Accept-Language", language.to_owned())).dispatch();
        json_of(response)["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title("/v1/ogc", "en"), "Data for GIS programs");
    assert_eq!(title("/v1/ogc?lang=id", "en"), "Data untuk program SIG");
    assert_eq!(title("/v1/ogc/collections/gauges", "en"), "Flood gauges");
}
