//! The abstract tests of OGC API – Features, Part 1 (OGC 17-069r4, annex A), on every collection: those of the classes Core, GeoJSON
//! and OpenAPI 3.0. Each test here has the name of the abstract tests that it covers.

use std::collections::BTreeSet;

use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};
use siaga::model::Timestamp;

use crate::fixture;
use crate::suite::support::{Siaga, json_of};

const BASE: &str = "/v1/ogc";
const CRS84: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
const NAMES: [&str; 10] = [
    "floods",
    "flooded",
    "areas",
    "reports",
    "gauges",
    "infrastructure",
    "floodgates",
    "pumps",
    "waterways",
    "alerts",
];
/// The columns with the beginning and the end of the time of a feature, for the collections whose features have one.
const TIMES: [(&str, [&str; 2]); 3] = [
    ("reports", ["created_at", "created_at"]),
    ("gauges", ["observed_at", "observed_at"]),
    ("alerts", ["sent", "expires"]),
];

/// Follows an address, as a link has it, with `Accept`.
fn got(siaga: &Siaga, address: &str, accept: &str) -> (Status, String, Option<Value>) {
    let path = address.strip_prefix("http://localhost").unwrap_or(address).to_owned();
    let response = siaga.client.get(path).header(Header::new("Accept", accept.to_owned())).dispatch();
    let media_type = response.headers().get_one("Content-Type").unwrap_or_default().to_owned();
    (response.status(), media_type, response.into_json())
}

fn document(siaga: &Siaga, address: &str) -> Value {
    let (status, _, body) = got(siaga, address, "application/geo+json, application/json;q=0.9");
    assert_eq!(status, Status::Ok, "{address}: {body:?}");
    body.unwrap()
}

fn links<'v>(document: &'v Value, rel: &str) -> Vec<&'v Value> {
    let links = document["links"].as_array().unwrap_or_else(|| panic!("no links: {document}"));
    links.iter().filter(|link| link["rel"] == rel).collect()
}

fn href(link: &Value) -> &str {
    link["href"].as_str().unwrap()
}

/// Checks links: each has an address, a relation and a type, and the ones of JSON lead to a document of that type.
fn assert_links(siaga: &Siaga, document: &Value) {
    for link in document["links"].as_array().unwrap() {
        assert!(link["rel"].is_string() && link["type"].is_string(), "{link}");
        let media_type = link["type"].as_str().unwrap();
        if media_type.contains("json") {
            let (status, found, _) = got(siaga, href(link), media_type);
            assert_eq!((status, found.as_str()), (Status::Ok, media_type), "{link}");
        }
    }
}

fn items(collection: &str, query: &str) -> String {
    format!("{BASE}/collections/{collection}/items?{query}")
}

/// The features of a collection, from the first page to the last.
fn all(siaga: &Siaga, collection: &str, query: &str) -> Vec<Value> {
    let mut address = items(collection, query);
    let mut found = Vec::new();
    for _ in 0..200 {
        let page = document(siaga, &address);
        found.extend(page["features"].as_array().unwrap().iter().cloned());
        let Some(next) = links(&page, "next").first().map(|next| href(next).to_owned()) else {
            return found;
        };
        address = next;
    }
    panic!("the pages of {collection} never end");
}

fn ids(features: &[Value]) -> BTreeSet<String> {
    features.iter().map(|feature| feature["id"].to_string()).collect()
}

/// All positions of a geometry.
fn positions(coordinates: &Value) -> Vec<[f64; 2]> {
    match coordinates.as_array().unwrap().as_slice() {
        [x, y, ..] if x.is_number() => vec![[x.as_f64().unwrap(), y.as_f64().unwrap()]],
        parts => parts.iter().flat_map(positions).collect(),
    }
}

/// The schema of a parameter in the description, which is as the standard defines it.
fn parameter(api: &Value, collection: &str, name: &str) -> Value {
    let parameters = &api["paths"][format!("/collections/{collection}/items")]["get"]["parameters"];
    let found = parameters.as_array().unwrap().iter().find(|of| of["name"] == name);
    let found = found.unwrap_or_else(|| panic!("{collection} has no {name}"));
    for (member, expected) in [("in", json!("query")), ("style", json!("form")), ("explode", json!(false))] {
        assert_eq!(found[member], expected, "{collection}, {name}: {member}");
    }
    assert_ne!(found["required"], true);
    found["schema"].clone()
}

#[test]
fn root_op_and_root_success() {
    let siaga = Siaga::start();
    let (status, media_type, landing) = got(&siaga, BASE, "application/json");
    assert_eq!((status, media_type.as_str()), (Status::Ok, "application/json"));
    let landing = landing.unwrap();
    for rel in ["conformance", "data"] {
        assert!(!links(&landing, rel).is_empty(), "{rel}");
    }
    assert!(!links(&landing, "service-desc").is_empty() || !links(&landing, "service-doc").is_empty());
    assert_links(&siaga, &landing);
}

#[test]
fn api_definition_op_and_success_and_the_class_of_openapi() {
    let siaga = Siaga::start();
    let landing = document(&siaga, BASE);
    let link = links(&landing, "service-desc")[0];
    let (status, media_type, api) = got(&siaga, href(link), link["type"].as_str().unwrap());
    assert_eq!(status, Status::Ok);
    assert_eq!(media_type, "application/vnd.oai.openapi+json;version=3.0");
    let api = api.unwrap();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.0."));
    assert!(api["info"]["title"].is_string() && api["info"]["version"].is_string());
    // Each resource that the standard has is described, with a response of 200.
    let mut paths = vec!["/".to_owned(), "/conformance".to_owned(), "/collections".to_owned()];
    for collection in NAMES {
        let own = format!("/collections/{collection}");
        paths.extend([own.clone(), format!("{own}/items"), format!("{own}/items/{{featureId}}")]);
    }
    let mut operations = BTreeSet::new();
    for path in paths {
        let get = &api["paths"][&path]["get"];
        assert!(get["responses"]["200"]["content"].is_object(), "{path}");
        assert!(operations.insert(get["operationId"].as_str().unwrap().to_owned()), "{path}");
    }
}

#[test]
fn conformance_op_and_success() {
    let siaga = Siaga::start();
    let landing = document(&siaga, BASE);
    let conformance = document(&siaga, href(links(&landing, "conformance")[0]));
    for class in ["core", "geojson", "oas30"] {
        let class = format!("http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{class}");
        assert!(conformance["conformsTo"].as_array().unwrap().contains(&json!(class)), "{class}");
    }
}

#[test]
fn http_and_crs84() {
    let siaga = Siaga::start();
    for address in [BASE.to_owned(), format!("{BASE}/collections"), items("areas", "limit=1")] {
        let head = siaga.client.head(address.as_str()).dispatch().status();
        assert_eq!(head, Status::Ok, "{address}");
        let other = siaga.client.req(Method::Delete, address.as_str()).dispatch().status();
        assert!(matches!(other.code, 404 | 405), "{address}: {other}");
    }
    for collection in NAMES {
        let described = document(&siaga, &format!("{BASE}/collections/{collection}"));
        assert!(described["crs"].as_array().is_none_or(|crs| crs.contains(&json!(CRS84))), "{collection}");
        for feature in all(&siaga, collection, "") {
            for [lng, lat] in positions(&feature["geometry"]["coordinates"]) {
                assert!((90.0..145.0).contains(&lng) && (-12.0..8.0).contains(&lat), "{lng}, {lat}");
            }
        }
    }
}

#[test]
fn fc_md_op_success_links_items_and_extent_and_sfc_md_op_and_success() {
    let siaga = Siaga::start();
    let landing = document(&siaga, BASE);
    let collections = document(&siaga, href(links(&landing, "data")[0]));
    assert!(!links(&collections, "self").is_empty());
    assert_links(&siaga, &collections);
    let listed = collections["collections"].as_array().unwrap();
    assert_eq!(listed.iter().map(|of| of["id"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    for collection in listed {
        let items = links(collection, "items");
        assert!(items.iter().any(|link| link["type"] == "application/geo+json"), "{collection}");
        assert_links(&siaga, collection);
        let own = document(&siaga, href(links(collection, "self")[0]));
        for member in ["id", "title", "description", "extent"] {
            assert_eq!(own[member], collection[member], "{member}");
        }
        let of_own = own["links"].as_array().unwrap();
        assert!(collection["links"].as_array().unwrap().iter().all(|link| of_own.contains(link)));
        let extent = &collection["extent"];
        let name = collection["id"].as_str().unwrap();
        let [west, south, east, north] = <[f64; 4]>::try_from(
            serde_json::from_value::<Vec<f64>>(extent["spatial"]["bbox"][0].clone()).unwrap(),
        )
        .unwrap();
        assert!(extent["spatial"]["crs"].as_str().is_none_or(|crs| crs == CRS84));
        // The extents are those of the city; a report can lie outside.
        for feature in all(&siaga, name, "").iter().filter(|_| name != "reports" && name != "gauges") {
            for [lng, lat] in positions(&feature["geometry"]["coordinates"]) {
                assert!(
                    (west..=east).contains(&lng) && (south..=north).contains(&lat),
                    "{name}: {lng}, {lat}"
                );
            }
        }
        if let Some(temporal) = extent.get("temporal") {
            let interval = &temporal["interval"][0];
            assert!(interval.as_array().is_some_and(|ends| ends.len() == 2), "{interval}");
        }
    }
}

#[test]
fn fc_op_and_response_links_number_matched_and_number_returned() {
    let siaga = Siaga::start();
    for collection in NAMES {
        let (status, media_type, page) = got(&siaga, &items(collection, "limit=2"), "application/geo+json");
        assert_eq!((status, media_type.as_str()), (Status::Ok, "application/geo+json"), "{collection}");
        let page = page.unwrap();
        assert_eq!(page["type"], "FeatureCollection");
        let features = page["features"].as_array().unwrap();
        assert!(!links(&page, "self").is_empty());
        assert_links(&siaga, &page);
        assert_eq!(page["numberReturned"], features.len());
        let every = all(&siaga, collection, "limit=2");
        assert_eq!(ids(&every).len(), every.len(), "{collection}: a feature is there twice");
        if let Some(matched) = page.get("numberMatched") {
            assert_eq!(*matched, every.len(), "{collection}");
        }
        if let Some(stamp) = page.get("timeStamp") {
            Timestamp::parse(stamp.as_str().unwrap()).unwrap();
        }
        for feature in features {
            assert_eq!(feature["type"], "Feature");
            assert!(feature["id"].is_string() || feature["id"].is_u64());
            assert!(feature["properties"].is_object() && feature["geometry"]["type"].is_string());
        }
    }
}

#[test]
fn f_op_success_and_links() {
    let siaga = Siaga::start();
    for collection in NAMES {
        for feature in all(&siaga, collection, "") {
            let id = feature["id"].as_str().map_or_else(|| feature["id"].to_string(), str::to_owned);
            let address = format!("{BASE}/collections/{collection}/items/{id}");
            let (status, media_type, one) = got(&siaga, &address, "application/geo+json");
            assert_eq!((status, media_type.as_str()), (Status::Ok, "application/geo+json"), "{address}");
            let one = one.unwrap();
            for member in ["type", "id", "geometry", "properties"] {
                assert_eq!(one[member], feature[member], "{address}");
            }
            assert!(href(links(&one, "self")[0]).ends_with(&address));
            assert!(href(links(&one, "collection")[0]).ends_with(&format!("/collections/{collection}")));
            assert_links(&siaga, &one);
        }
    }
}

#[test]
fn fc_limit_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, &format!("{BASE}/api"));
    for collection in NAMES {
        let limit = parameter(&api, collection, "limit");
        assert_eq!(limit["type"], "integer");
        for bound in ["minimum", "maximum", "default"] {
            assert!(limit[bound].is_u64(), "{bound}");
        }
        let most = limit["maximum"].as_u64().unwrap();
        for asked in [1, 2, 3, most, most + 1] {
            let page = document(&siaga, &items(collection, &format!("limit={asked}")));
            let found = page["features"].as_array().unwrap().len() as u64;
            assert!(found <= asked.min(most), "{collection}: {found} of {asked}");
        }
    }
}

#[test]
fn fc_bbox_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, &format!("{BASE}/api"));
    for collection in NAMES {
        let bbox = parameter(&api, collection, "bbox");
        assert_eq!((&bbox["type"], &bbox["items"]["type"]), (&json!("array"), &json!("number")));
        let every = all(&siaga, collection, "");
        let whole = "-180,-90,180,90";
        assert_eq!(ids(&all(&siaga, collection, &format!("bbox={whole}"))), ids(&every), "{collection}");
        assert_eq!(ids(&all(&siaga, collection, "bbox=-180,-90,0,180,90,100")), ids(&every), "{collection}");
        for elsewhere in ["-10,-10,-9,-9", "179,-20,-179,-10", "-180,85,180,90", "-180,-90,180,-85"] {
            let found = all(&siaga, collection, &format!("bbox={elsewhere}"));
            assert!(found.is_empty(), "{collection}, {elsewhere}: {found:?}");
        }
        for feature in &every {
            // The box of a feature finds the feature, and nothing that lies beyond it.
            let own = positions(&feature["geometry"]["coordinates"]);
            let [west, south] = [0, 1].map(|axis| own.iter().map(|at| at[axis]).fold(f64::MAX, f64::min));
            let [east, north] = [0, 1].map(|axis| own.iter().map(|at| at[axis]).fold(f64::MIN, f64::max));
            let found = all(&siaga, collection, &format!("bbox={west},{south},{east},{north}"));
            assert!(ids(&found).contains(&feature["id"].to_string()), "{collection}: {}", feature["id"]);
            for other in &found {
                let at = positions(&other["geometry"]["coordinates"]);
                let beyond = at.iter().all(|at| at[0] < west - 1e-6)
                    || at.iter().all(|at| at[0] > east + 1e-6)
                    || at.iter().all(|at| at[1] < south - 1e-6)
                    || at.iter().all(|at| at[1] > north + 1e-6);
                assert!(!beyond, "{collection}: {} in the box of {}", other["id"], feature["id"]);
            }
        }
    }
}

#[test]
fn fc_time_definition_and_response() {
    let siaga = Siaga::start();
    let api = document(&siaga, &format!("{BASE}/api"));
    let (before, now) = ("2016-12-19T13:00:00Z", fixture::now());
    let later = now.after(std::time::Duration::from_hours(24 * 365));
    for collection in NAMES {
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
            (format!("/{before}"), None, Some(before)),
            (format!("{before}/.."), Some(before), None),
            (format!("{before}/"), Some(before), None),
            (format!("{before}/{later}"), Some(before), None),
        ] {
            let [from, until] = [from, until].map(|at| at.map(|at| Timestamp::parse(at).unwrap()));
            let found = all(&siaga, collection, &format!("datetime={query}"));
            for (begins, ends) in found.iter().filter_map(temporal) {
                let is_then =
                    until.is_none_or(|until| begins <= until) && from.is_none_or(|from| ends >= from);
                assert!(is_then || collection == "gauges", "{collection}, {query}: {begins} to {ends}");
            }
            // What has no time is always there.
            let timeless: Vec<_> =
                all(&siaga, collection, "").into_iter().filter(|of| temporal(of).is_none()).collect();
            if collection != "flooded" {
                assert!(ids(&timeless).is_subset(&ids(&found)), "{collection}, {query}");
            }
        }
    }
}

#[test]
fn query_param_unknown_and_invalid() {
    let siaga = Siaga::start();
    for collection in NAMES {
        for query in [
            "unknownQueryParameter=value",
            "limit=0",
            "limit=x",
            "bbox=1,2,3",
            "bbox=a,b,c,d",
            "datetime=yesterday",
            "datetime=2016-12-20T00:00:00Z/2016-12-19T00:00:00Z",
            "offset=-1",
            "startindex=x",
        ] {
            let (status, ..) = got(&siaga, &items(collection, query), "application/geo+json");
            assert_eq!(status, Status::BadRequest, "{collection}, {query}");
        }
        let (status, ..) = got(&siaga, &format!("{BASE}/collections/{collection}/items/~"), "*/*");
        assert_eq!(status, Status::NotFound, "{collection}");
    }
    for address in [BASE.to_owned(), format!("{BASE}/conformance"), format!("{BASE}/collections")] {
        let response = siaga.client.get(format!("{address}?unknownQueryParameter=value")).dispatch();
        assert_eq!(response.status(), Status::BadRequest, "{address}");
        assert_eq!(json_of(response)["statusCode"], 400);
    }
}
