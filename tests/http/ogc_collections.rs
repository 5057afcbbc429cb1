//! Requirements of GIS programs on collections below `/v1/ogc` beyond the standard: numeric columns, one geometry type, pages by
//! offset, and the intervals of a time slider.

use std::collections::BTreeSet;
use std::time::Duration;

use rocket::http::Status;

use super::ogc::{BASE, COLLECTIONS, all, document, ids, link, states};
use crate::fixture;
use crate::suite::support::Siaga;

#[test]
fn flooded_has_the_flooded_areas_alone_and_no_column_that_is_always_empty() {
    let siaga = Siaga::start();
    let flooded = all(&siaga, "flooded", "");
    assert_eq!(ids(&flooded), [5, 30]);
    for feature in &flooded {
        let properties = feature["properties"].as_object().unwrap();
        assert!(properties["state"].as_u64().unwrap() > 0);
        for column in ["depth", "last_updated", "flooded_since", "confirmed"] {
            assert!(properties[column].is_string(), "{column}: {feature}");
        }
        assert!(!properties.contains_key("over_since"));
    }
    assert_eq!(siaga.get(&format!("{BASE}/flooded/items/1")).status(), Status::NotFound);
}

#[test]
fn each_kind_of_infrastructure_is_a_collection_of_its_own() {
    let siaga = Siaga::start();
    let mut found = BTreeSet::new();
    for (kind, names) in
        [("floodgates", &["Pintu Air"][..]), ("pumps", &["Pompa A", "Pompa B"]), ("waterways", &["Ciliwung"])]
    {
        let features = all(&siaga, kind, "");
        assert!(features.iter().map(|feature| &feature["properties"]["name"]).eq(names), "{kind}");
        assert!(features.iter().all(|feature| feature["properties"]["type"] == kind), "{kind}");
        found.extend(features.iter().map(|feature| feature["id"].as_str().unwrap().to_owned()));
    }
    let together = all(&siaga, "infrastructure", "");
    assert_eq!(found, together.iter().map(|feature| feature["id"].as_str().unwrap().to_owned()).collect());
    assert!(found.contains("P-17"), "as in its file: {found:?}");
}

#[test]
fn a_gauge_without_readings_is_a_feature() {
    let siaga = Siaga::start();
    let gauges = ids(&all(&siaga, "gauges", ""));
    assert_eq!(gauges.len(), fixture::gauges().len());
    siaga.pass(Duration::from_hours(24 * 30));
    let unread = all(&siaga, "gauges", "");
    assert_eq!(ids(&unread), gauges);
    for feature in &unread {
        assert!(feature["properties"]["name"].is_string() && feature["geometry"]["type"] == "Point");
        assert!(feature["properties"]["level"].is_null() && feature["properties"]["observed_at"].is_null());
        let alone = document(&siaga, &format!("{BASE}/gauges/items/{}", feature["id"].as_str().unwrap()));
        assert_eq!(alone["properties"], feature["properties"]);
    }
    let then = all(&siaga, "gauges", &format!("datetime={}", fixture::now()));
    assert!(then.iter().all(|feature| feature["properties"]["level"].is_number()));
}

#[test]
fn a_page_begins_at_an_offset_by_either_parameter_name() {
    let siaga = Siaga::start();
    let page = |address: &str| {
        let page = document(&siaga, address);
        (ids(page["features"].as_array().unwrap()), page)
    };
    for collection in ["floods", "areas", "reports", "gauges", "infrastructure", "pumps"] {
        let every = ids(&all(&siaga, collection, "offset=0"));
        assert_eq!(ids(&all(&siaga, collection, "")), every, "{collection}");
        let part = |from: usize| every.iter().skip(from).take(2).cloned().collect::<Vec<_>>();
        for name in ["offset", "startindex"] {
            for at in 0..every.len() + 2 {
                let (found, first) = page(&format!("{BASE}/{collection}/items?limit=2&{name}={at}"));
                assert_eq!(found, part(at), "{collection}, {name}={at}");
                // `next` has the following features, `self` the same ones.
                let next = link(&first, "next").map(|next| page(&next).0).unwrap_or_default();
                assert_eq!(next, part(at + 2), "{collection}, {name}={at}");
                assert_eq!(page(&link(&first, "self").unwrap()).0, found, "{collection}, {name}={at}");
            }
        }
    }
    let both = ids(&all(&siaga, "areas", "offset=1&startindex=2"));
    assert_eq!(both, ids(&all(&siaga, "areas", "offset=2")));
    let (narrowed, _) = page(&format!("{BASE}/floods/items?state=0&offset=1&limit=1"));
    assert_eq!(narrowed, ids(&all(&siaga, "floods", "state=0"))[1..2]);
}

#[test]
fn an_interval_of_floods_has_the_states_at_its_end_or_now() {
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
        let flooded = all(&siaga, "flooded", &format!("datetime={query}")).len();
        assert_eq!(flooded, expected.values().filter(|state| **state > 0).count(), "{query}");
    }
}

#[test]
fn the_columns_that_select_features_are_those_of_the_schema_and_of_every_feature() {
    let siaga = Siaga::start();
    for (collection, _) in COLLECTIONS {
        let described = document(&siaga, &format!("{BASE}/{collection}"));
        let address = link(&described, "http://www.opengis.net/def/rel/ogc/1.0/queryables").unwrap();
        let queryables = document(&siaga, &address);
        assert_eq!(queryables["$id"], *address);
        let schema = document(&siaga, &format!("{BASE}/{collection}/schema"));
        let columns = schema["properties"].as_object().unwrap();
        assert_eq!(queryables["properties"], schema["properties"]);
        for column in columns.keys() {
            let address = format!("{BASE}/{collection}/items?{column}=");
            assert_eq!(siaga.get(&address).status(), Status::Ok, "{column}");
        }
        for feature in all(&siaga, collection, "") {
            let properties = feature["properties"].as_object().unwrap();
            assert_eq!(properties.len(), columns.len());
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
    assert_eq!(siaga.get(&format!("{BASE}/nothing/queryables")).status(), Status::NotFound);
}
