//! The abstract tests of OGC API – Features, Part 1 (OGC 17-069r4, annex A), on every collection: those of the classes Core, GeoJSON
//! and OpenAPI 3.0. Each test here has the name of the abstract tests that it covers.

use std::collections::BTreeSet;
use std::time::Duration;

use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};
use siaga::model::Timestamp;

use super::ogc::{BASE, COLLECTIONS, all, document, ids, link};
use crate::fixture;
use crate::suite::support::{Siaga, assert_invalid, json_of};

const ROOT: &str = "/v1/ogc";
const CRS84: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
/// The columns with start and end time of features, for the temporal collections.
const TIMES: [(&str, [&str; 2]); 3] = [
    ("reports", ["created_at", "created_at"]),
    ("gauges", ["observed_at", "observed_at"]),
    ("alerts", ["sent", "expires"]),
];

/// Media type and body of a document, requested with an `Accept`.
fn get_as(siaga: &Siaga, address: &str, accept: &str) -> (String, Value) {
    let request = siaga.client.get(address.trim_start_matches("http://localhost"));
    let response = request.header(Header::new("Accept", accept.to_owned())).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    (response.headers().get_one("Content-Type").unwrap().to_owned(), json_of(response))
}

/// Checks links: each has an address, a relation and a type, and the ones of JSON lead to a document of that type.
fn assert_links(siaga: &Siaga, document: &Value) {
    for link in document["links"].as_array().unwrap() {
        assert!(link["rel"].is_string(), "{link}");
        let media_type = link["type"].as_str().unwrap();
        if media_type.contains("json") {
            let (found, _) = get_as(siaga, link["href"].as_str().unwrap(), media_type);
            assert_eq!(found, media_type, "{link}");
        }
    }
}

/// All positions of a geometry.
fn positions(coordinates: &Value) -> Vec<[f64; 2]> {
    match coordinates.as_array().unwrap().as_slice() {
        [x, y, ..] if x.is_number() => vec![[x.as_f64().unwrap(), y.as_f64().unwrap()]],
        parts => parts.iter().flat_map(positions).collect(),
    }
}

/// The west, south, east and north of a feature.
fn bounds(feature: &Value) -> [f64; 4] {
    let own = positions(&feature["geometry"]["coordinates"]);
    let extreme =
        |axis: usize, pick: fn(f64, f64) -> f64| own.iter().map(|at| at[axis]).reduce(pick).unwrap();
    [extreme(0, f64::min), extreme(1, f64::min), extreme(0, f64::max), extreme(1, f64::max)]
}

/// Whether two boxes are disjoint.
fn are_apart(one: [f64; 4], other: [f64; 4]) -> bool {
    let is_before = |axis: usize| one[axis + 2] < other[axis] || other[axis + 2] < one[axis];
    is_before(0) || is_before(1)
}

/// The schema of a parameter in the OpenAPI document, which must match the standard.
fn parameter(api: &Value, collection: &str, name: &str) -> Value {
    let parameters = &api["paths"][format!("/collections/{collection}/items")]["get"]["parameters"];
    let found = parameters.as_array().unwrap().iter().find(|feature| feature["name"] == name);
    let found = found.unwrap_or_else(|| panic!("{collection} has no {name}"));
    for (member, expected) in [("in", json!("query")), ("style", json!("form")), ("explode", json!(false))] {
        assert_eq!(found[member], expected, "{collection}, {name}: {member}");
    }
    assert_ne!(found["required"], true);
    found["schema"].clone()
}

#[test]
fn root_api_definition_and_conformance_op_and_success_and_http() {
    let siaga = Siaga::start();
    let landing = document(&siaga, ROOT);
    assert_links(&siaga, &landing);
    let conformance = document(&siaga, &link(&landing, "conformance").unwrap());
    let class = |name: &str| format!("http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{name}");
    assert_eq!(conformance["conformsTo"], json!(["core", "geojson", "oas30"].map(class)));
    let (media_type, api) = get_as(&siaga, &link(&landing, "service-desc").unwrap(), "*/*");
    assert_eq!(media_type, "application/vnd.oai.openapi+json;version=3.0");
    assert_eq!(api["openapi"], "3.0.3");
    assert!(api["info"]["title"].is_string() && api["info"]["version"].is_string());
    // Each resource of the standard is described with a 200 response.
    let mut paths = vec!["/".to_owned(), "/conformance".to_owned(), "/collections".to_owned()];
    for (collection, _) in COLLECTIONS {
        let own = format!("/collections/{collection}");
        paths.extend([own.clone(), format!("{own}/items"), format!("{own}/items/{{featureId}}")]);
    }
    let mut operations = BTreeSet::new();
    for path in paths {
        let get = &api["paths"][&path]["get"];
        assert!(get["responses"]["200"]["content"].is_object(), "{path}");
        assert!(operations.insert(get["operationId"].as_str().unwrap().to_owned()), "{path}");
    }
    for address in [ROOT, BASE, "/v1/ogc/collections/areas/items?limit=1"] {
        assert_eq!(siaga.client.head(address).dispatch().status(), Status::Ok, "{address}");
        let other = siaga.client.req(Method::Delete, address).dispatch().status();
        assert!(matches!(other.code, 404 | 405), "{address}: {other}");
    }
}

#[test]
fn crs84_and_fc_md_op_success_links_items_and_extent_and_sfc_md_op_and_success() {
    let siaga = Siaga::start();
    let collections = document(&siaga, &link(&document(&siaga, ROOT), "data").unwrap());
    assert!(link(&collections, "self").is_some());
    assert_links(&siaga, &collections);
    let listed = collections["collections"].as_array().unwrap();
    assert!(listed.iter().map(|item| &item["id"]).eq(COLLECTIONS.map(|(name, _)| name).iter()));
    for collection in listed {
        let items = collection["links"].as_array().unwrap().iter().filter(|link| link["rel"] == "items");
        assert!(items.into_iter().any(|link| link["type"] == "application/geo+json"), "{collection}");
        assert_links(&siaga, collection);
        assert_eq!(document(&siaga, &link(collection, "self").unwrap()), *collection);
        let name = collection["id"].as_str().unwrap();
        let spatial = &collection["extent"]["spatial"];
        for crs in [&spatial["crs"], &collection["crs"][0]] {
            assert!(crs.as_str().is_none_or(|crs| crs == CRS84), "{name}");
        }
        let extent: [f64; 4] = serde_json::from_value(spatial["bbox"][0].clone()).unwrap();
        let [west, south, east, north] = extent;
        // The extents are those of the city; a report can lie outside.
        for feature in all(&siaga, name, "").iter().filter(|_| name != "reports" && name != "gauges") {
            for [lng, lat] in positions(&feature["geometry"]["coordinates"]) {
                let is_within = (west..=east).contains(&lng) && (south..=north).contains(&lat);
                assert!(is_within, "{name}: {lng}, {lat}");
            }
        }
        if let Some(temporal) = collection["extent"].get("temporal") {
            assert_eq!(temporal["interval"][0].as_array().unwrap().len(), 2, "{temporal}");
        }
    }
}

#[test]
fn fc_op_and_response_links_number_matched_and_number_returned_and_f_op_success_and_links() {
    let siaga = Siaga::start();
    for (collection, geometry) in COLLECTIONS {
        let address = format!("{BASE}/{collection}/items?limit=2");
        let (media_type, page) = get_as(&siaga, &address, "application/geo+json");
        assert_eq!(media_type, "application/geo+json", "{collection}");
        assert_eq!(page["type"], "FeatureCollection");
        assert!(link(&page, "self").is_some());
        assert_links(&siaga, &page);
        let every = all(&siaga, collection, "limit=2");
        let different: BTreeSet<_> = every.iter().map(|item| item["id"].to_string()).collect();
        assert_eq!(different.len(), every.len(), "{collection}: a feature is there twice");
        assert!(page.get("numberMatched").is_none_or(|matched| *matched == every.len()), "{collection}");
        if let Some(stamp) = page.get("timeStamp") {
            Timestamp::parse(stamp.as_str().unwrap()).unwrap();
        }
        for feature in every {
            let id = feature["id"].as_str().map_or_else(|| feature["id"].to_string(), str::to_owned);
            let address = format!("{BASE}/{collection}/items/{id}");
            let (media_type, one) = get_as(&siaga, &address, "application/geo+json");
            assert_eq!(media_type, "application/geo+json", "{address}");
            for member in ["type", "id", "geometry", "properties"] {
                assert_eq!(one[member], feature[member], "{address}");
            }
            assert_eq!(one["type"], "Feature");
            assert!(geometry.is_none_or(|geometry| one["geometry"]["type"] == geometry), "{one}");
            assert!(link(&one, "self").unwrap().ends_with(&address));
            assert!(link(&one, "collection").unwrap().ends_with(&format!("/collections/{collection}")));
            assert_links(&siaga, &one);
        }
    }
}

#[test]
fn fc_limit_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, "/v1/ogc/api");
    for (collection, _) in COLLECTIONS {
        let limit = parameter(&api, collection, "limit");
        assert_eq!(limit["type"], "integer");
        assert!(limit["minimum"].is_u64() && limit["default"].is_u64(), "{limit}");
        let most = limit["maximum"].as_u64().unwrap();
        for requested in [1, 2, 3, most, most + 1] {
            let page = document(&siaga, &format!("{BASE}/{collection}/items?limit={requested}"));
            let found = page["features"].as_array().unwrap().len() as u64;
            assert!(found <= requested.min(most), "{collection}: {found} of {requested}");
        }
    }
}

#[test]
fn fc_bbox_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, "/v1/ogc/api");
    for (collection, _) in COLLECTIONS {
        let bbox = parameter(&api, collection, "bbox");
        assert_eq!((&bbox["type"], &bbox["items"]["type"]), (&json!("array"), &json!("number")));
        let within = |bbox: &str| all(&siaga, collection, &format!("bbox={bbox}"));
        let every = all(&siaga, collection, "");
        for whole in ["-180,-90,180,90", "-180,-90,0,180,90,100"] {
            assert_eq!(within(whole), every, "{collection}");
        }
        for elsewhere in ["-10,-10,-9,-9", "179,-20,-179,-10", "-180,85,180,90", "-180,-90,180,-85"] {
            assert_eq!(within(elsewhere), [] as [Value; 0], "{collection}, {elsewhere}");
        }
        for feature in &every {
            // The bbox of a feature finds the feature and nothing outside the box.
            let own @ [west, south, east, north] = bounds(feature);
            let found = within(&format!("{west},{south},{east},{north}"));
            assert!(ids(&found).contains(&feature["id"]), "{collection}: {}", feature["id"]);
            for other in &found {
                let wider = [west - 1e-6, south - 1e-6, east + 1e-6, north + 1e-6];
                assert!(!are_apart(bounds(other), wider), "{collection}: {} in {own:?}", other["id"]);
            }
        }
    }
}

#[test]
fn fc_time_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, "/v1/ogc/api");
    let (before, now) = ("2016-12-19T13:00:00Z", fixture::now());
    let later = now.saturating_add(Duration::from_hours(24 * 365));
    for (collection, _) in COLLECTIONS {
        let time = parameter(&api, collection, "datetime");
        assert_eq!(time["type"], "string");
        assert_eq!(time.get("format"), None, "an interval is no date-time");
        let columns = TIMES.iter().find(|(name, _)| *name == collection).map(|(_, columns)| columns);
        let temporal = |feature: &Value| {
            let time =
                |column: &str| feature["properties"][column].as_str().map(|at| Timestamp::parse(at).unwrap());
            columns.and_then(|[begins, ends]| Some((time(begins)?, time(ends)?)))
        };
        for (query, from, until) in [
            (before.to_owned(), Some(before), Some(before)),
            (format!("{before}/{now}"), Some(before), None),
            (format!("../{before}"), None, Some(before)),
            (format!("{before}/.."), Some(before), None),
            (format!("{before}/{later}"), Some(before), None),
        ] {
            let [from, until] = [from, until].map(|at| at.map(|at| Timestamp::parse(at).unwrap()));
            let found = all(&siaga, collection, &format!("datetime={query}"));
            for (begins, ends) in found.iter().filter_map(temporal) {
                let is_then =
                    until.is_none_or(|until| begins <= until) && from.is_none_or(|from| ends >= from);
                assert!(is_then || collection == "gauges", "{collection}, {query}: {begins} to {ends}");
            }
            // Features without a time are always included.
            let mut timeless = all(&siaga, collection, "");
            timeless.retain(|item| temporal(item).is_none() && collection != "flooded");
            let found = ids(&found);
            assert!(ids(&timeless).iter().all(|id| found.contains(id)), "{collection}, {query}");
        }
    }
}

#[test]
fn query_param_unknown_and_invalid() {
    let siaga = Siaga::start();
    let of_every_collection = [
        ("items?unknownQueryParameter=value", "unknownQueryParameter", "has bbox, datetime, limit, cursor, "),
        ("items?limit=0", "limit", "from 1 to 10000"),
        ("items?limit=x", "limit", "from 1 to 10000"),
        ("items?limit=1&limit=2", "limit", "given once"),
        ("items?bbox=1,2,3", "bbox", "four numbers"),
        ("items?bbox=1,2,3,x", "bbox", "four numbers"),
        ("items?datetime=yesterday", "datetime", "must be a time"),
        ("items?datetime=../..", "datetime", "must be a time"),
        ("items?datetime=2016-12-20T00:00:00Z/2016-12-19T00:00:00Z", "datetime", ""),
        ("items?offset=-1", "offset", "0 or more"),
        ("items?startindex=x", "startindex", "0 or more"),
        ("items?f=xml", "f", "one of [json]"),
        ("items/1?f=html", "f", "one of [json]"),
        ("items/1?limit=1", "limit", "is not a parameter of this address"),
    ];
    let names = COLLECTIONS.map(|(name, _)| name);
    let every = names.iter().flat_map(|name| {
        of_every_collection
            .map(|(address, key, expected)| (format!("{BASE}/{name}/{address}"), key, expected))
    });
    let others = [
        ("?unknownQueryParameter=value", "unknownQueryParameter", "is not a parameter of this address"),
        ("/conformance?unknownQueryParameter=value", "unknownQueryParameter", "is not a parameter of this"),
        ("/collections?unknownQueryParameter=value", "unknownQueryParameter", "is not a parameter of this"),
        ("/collections/floods?limit=1", "limit", "is not a parameter of this address"),
        ("/collections/floods/items?datetime=2116-12-14T00:00:00Z", "datetime", "in the future"),
        ("/collections/floods/items?cursor=x", "cursor", "an earlier page"),
        ("/collections/floods/items?state=deep", "state", "a whole number"),
        ("/collections/reports/items?created_at=yesterday", "created_at", "YYYY-MM-DDTHH:mm:ss"),
        ("/collections/floods?f=html", "f", "one of [json]"),
        ("/collections/floods/items?lang=xx", "lang", "one of [id, en]"),
    ];
    for (address, key, expected) in
        every.chain(others.map(|(at, key, expected)| (format!("{ROOT}{at}"), key, expected)))
    {
        assert_invalid(siaga.get(&address), "query", &[key], expected);
    }
    let unknown = names.map(|name| format!("{name}/items/~"));
    for address in ["nothing", "nothing/items", "floods/items/999", "reports/items/0"]
        .map(str::to_owned)
        .iter()
        .chain(&unknown)
    {
        let response = siaga.client.get(format!("{BASE}/{address}")).dispatch();
        assert_eq!(response.status(), Status::NotFound, "{address}");
    }
}
