//! What GIS programs need of collections below `/v1/ogc` beyond the standard: columns that are numbers, one type of geometry, pages by
//! number, and times as a time slider sends them.

use std::collections::BTreeSet;
use std::time::Duration;

use rocket::http::Status;
use serde_json::{Value, json};

use crate::fixture;
use crate::suite::support::{Siaga, json_of};

const BASE: &str = "/v1/ogc/collections";
const NOW_FLOODED: [u64; 2] = [5, 30];

fn document(siaga: &Siaga, address: &str) -> Value {
    let response = siaga.client.get(address.to_owned()).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    json_of(response)
}

fn features(siaga: &Siaga, collection: &str, query: &str) -> Vec<Value> {
    let page = document(siaga, &format!("{BASE}/{collection}/items?{query}"));
    page["features"].as_array().unwrap().clone()
}

fn ids(features: &[Value]) -> Vec<Value> {
    features.iter().map(|feature| feature["id"].clone()).collect()
}

/// The states of all areas, as a request for their past or present has them.
fn states(siaga: &Siaga, query: &str) -> Vec<u64> {
    let all = features(siaga, "floods", query);
    all.iter().map(|feature| feature["properties"]["state"].as_u64().unwrap()).collect()
}

#[test]
fn flooded_has_the_flooded_areas_alone_and_no_column_that_is_always_empty() {
    let siaga = Siaga::start();
    let flooded = features(&siaga, "flooded", "");
    assert_eq!(ids(&flooded), NOW_FLOODED.map(Value::from));
    for feature in &flooded {
        let properties = feature["properties"].as_object().unwrap();
        assert!(properties["state"].as_u64().unwrap() > 0);
        for column in ["depth", "last_updated", "flooded_since", "confirmed"] {
            assert!(properties[column].is_string(), "{column}: {feature}");
        }
        assert!(!properties.contains_key("over_since"));
        let alone = document(&siaga, &format!("{BASE}/flooded/items/{}", feature["id"]));
        assert_eq!(alone["properties"], feature["properties"]);
    }
    let same: Vec<_> =
        features(&siaga, "floods", "").into_iter().filter(|of| of["properties"]["state"] != 0).collect();
    assert_eq!(ids(&same), ids(&flooded));
    assert_eq!(siaga.get(&format!("{BASE}/flooded/items/1")).status(), Status::NotFound);
}

#[test]
fn areas_are_multipolygons_in_every_collection() {
    let siaga = Siaga::start();
    for collection in ["floods", "flooded", "areas", "alerts"] {
        for feature in features(&siaga, collection, "") {
            assert_eq!(feature["geometry"]["type"], "MultiPolygon", "{collection}: {}", feature["id"]);
        }
    }
}

#[test]
fn each_kind_of_infrastructure_is_a_collection_with_one_type_of_geometry() {
    let siaga = Siaga::start();
    let mut all = BTreeSet::new();
    for (kind, geometry, names) in [
        ("floodgates", "Point", &["Pintu Air"][..]),
        ("pumps", "Point", &["Pompa A", "Pompa B"]),
        ("waterways", "LineString", &["Ciliwung"]),
    ] {
        let found = features(&siaga, kind, "");
        let own: Vec<_> = found.iter().map(|of| of["properties"]["name"].as_str().unwrap()).collect();
        assert_eq!(own, names, "{kind}");
        for feature in &found {
            assert_eq!(
                (&feature["geometry"]["type"], &feature["properties"]["type"]),
                (&json!(geometry), &json!(kind))
            );
            let id = feature["id"].as_str().unwrap();
            let other = document(&siaga, &format!("{BASE}/infrastructure/items/{id}"));
            assert_eq!(other["geometry"], feature["geometry"], "{id}");
            all.insert(id.to_owned());
        }
        let pages: Vec<_> =
            (0..found.len()).flat_map(|at| features(&siaga, kind, &format!("limit=1&offset={at}"))).collect();
        assert_eq!(ids(&pages), ids(&found));
    }
    assert_eq!(all.len(), features(&siaga, "infrastructure", "").len());
    assert!(all.contains("P-17"), "as in its file: {all:?}");
}

#[test]
fn a_gauge_is_a_feature_also_while_nobody_reads_it() {
    let siaga = Siaga::start();
    let all = ids(&features(&siaga, "gauges", ""));
    assert_eq!(all.len(), fixture::gauges().len());
    siaga.pass(Duration::from_hours(24 * 30));
    let unread = features(&siaga, "gauges", "");
    assert_eq!(ids(&unread), all);
    for feature in &unread {
        assert!(feature["properties"]["name"].is_string() && feature["geometry"]["type"] == "Point");
        assert!(feature["properties"]["level"].is_null() && feature["properties"]["observed_at"].is_null());
        let alone = document(&siaga, &format!("{BASE}/gauges/items/{}", feature["id"].as_str().unwrap()));
        assert_eq!(alone["properties"], feature["properties"]);
    }
    let then = features(&siaga, "gauges", &format!("datetime={}", fixture::now()));
    assert!(then.iter().all(|feature| feature["properties"]["level"].is_number()));
}

#[test]
fn a_page_begins_at_a_number_by_either_name() {
    let siaga = Siaga::start();
    for collection in ["floods", "areas", "reports", "gauges", "infrastructure", "pumps"] {
        let all = ids(&features(&siaga, collection, "offset=0"));
        assert_eq!(ids(&features(&siaga, collection, "")), all, "{collection}");
        for name in ["offset", "startindex"] {
            for at in 0..all.len() + 2 {
                let page = document(&siaga, &format!("{BASE}/{collection}/items?limit=2&{name}={at}"));
                let expected: Vec<_> = all.iter().skip(at).take(2).cloned().collect();
                assert_eq!(ids(page["features"].as_array().unwrap()), expected, "{collection}, {name}={at}");
                let links = page["links"].as_array().unwrap();
                let to = |rel: &str| {
                    links
                        .iter()
                        .find(|link| link["rel"] == rel)
                        .map(|link| link["href"].as_str().unwrap().replace("http://localhost", ""))
                };
                // The page that follows has the features after these, and the page itself its own.
                let next =
                    to("next").map(|next| ids(document(&siaga, &next)["features"].as_array().unwrap()));
                let expected: Vec<_> = all.iter().skip(at + 2).take(2).cloned().collect();
                assert_eq!(next.unwrap_or_default(), expected, "{collection}, {name}={at}");
                assert_eq!(document(&siaga, &to("self").unwrap())["features"], page["features"]);
            }
        }
    }
    let both = ids(&features(&siaga, "areas", "offset=1&startindex=2"));
    assert_eq!(both, ids(&features(&siaga, "areas", "offset=2")));
    let narrowed = features(&siaga, "floods", "state=0&offset=1&limit=1");
    assert_eq!(ids(&narrowed), ids(&features(&siaga, "floods", "state=0"))[1..2]);
}

#[test]
fn an_interval_of_floods_has_the_states_at_its_end_and_now_if_that_has_not_come() {
    let siaga = Siaga::start();
    let now = states(&siaga, "");
    let then = "2016-12-19T12:00:00Z";
    let before = states(&siaga, &format!("datetime={then}"));
    assert_ne!(before, now, "the fixture's log has a change in between");
    for (query, expected) in [
        (format!("2016-12-01T00:00:00Z/{then}"), &before),
        (format!("../{then}"), &before),
        (format!("/{then}"), &before),
        (format!("{then}/.."), &now),
        (format!("{then}/"), &now),
        (format!("{then}/2116-12-19T12:00:00Z"), &now),
        (format!("{then}/{}", fixture::now()), &now),
    ] {
        assert_eq!(states(&siaga, &format!("datetime={query}")), *expected, "{query}");
        let flooded = features(&siaga, "flooded", &format!("datetime={query}")).len();
        assert_eq!(flooded, expected.iter().filter(|state| **state > 0).count(), "{query}");
    }
}

#[test]
fn the_columns_that_select_features_are_listed() {
    let siaga = Siaga::start();
    for collection in ["floods", "flooded", "reports", "waterways"] {
        let described = document(&siaga, &format!("{BASE}/{collection}"));
        let rel = "http://www.opengis.net/def/rel/ogc/1.0/queryables";
        let link = described["links"].as_array().unwrap().iter().find(|link| link["rel"] == rel).unwrap();
        let address = link["href"].as_str().unwrap();
        let response = siaga.client.get(address.replace("http://localhost", "")).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), link["type"].as_str());
        let queryables = json_of(response);
        assert_eq!(queryables["$id"], address);
        let schema = document(&siaga, &format!("{BASE}/{collection}/schema"));
        assert_eq!(queryables["properties"], schema["properties"]);
        for column in queryables["properties"].as_object().unwrap().keys() {
            let address = format!("{BASE}/{collection}/items?{column}=");
            assert_eq!(siaga.client.get(address).dispatch().status(), Status::Ok, "{column}");
        }
    }
    assert_eq!(siaga.get(&format!("{BASE}/nothing/queryables")).status(), Status::NotFound);
}
