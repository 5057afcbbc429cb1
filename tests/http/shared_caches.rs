//! `Cache-Control` for shared caches, and normalised addresses.

use std::net::SocketAddr;
use std::time::Duration;

use rocket::http::{Header, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::support::{ADMIN_KEY, Siaga, json_of, key};

const PLAIN: &str = "public, max-age=0, s-maxage=5, stale-while-revalidate=5, stale-if-error=3600";
const REPORTS: &str = "public, max-age=0, s-maxage=5, stale-while-revalidate=5, stale-if-error=60";

fn shared() -> Siaga {
    Siaga::with_setting("siaga.cache.shared", "5s")
}

fn header(response: &LocalResponse<'_>, name: &str) -> Option<String> {
    response.headers().get_one(name).map(str::to_owned)
}

#[test]
fn shared_caches_may_store_public_data_for_seconds_and_reports_only_a_minute_after_an_error() {
    let siaga = shared();
    for (address, expected) in [
        ("/v1/floods", PLAIN),
        ("/v1/floods.geojson", PLAIN),
        ("/v1/floodgauges", PLAIN),
        ("/openapi.json", PLAIN),
        ("/v1/reports", REPORTS),
        ("/v1/reports/1", REPORTS),
        ("/v1/stats/reportsSummary", REPORTS),
        ("/", REPORTS),
        ("/v1/sources", "no-store"),
        ("/v1/floods?minimum_state=9", "no-store"),
        ("/v1/nothing", "no-store"),
        ("/v1/changes?wait=1", "no-store"),
    ] {
        let response = siaga.get(address);
        assert_eq!(header(&response, "Cache-Control").as_deref(), Some(expected), "{address}");
        let vary = header(&response, "Vary").unwrap_or_default();
        assert_eq!(vary.ends_with("Authorization, X-Api-Key"), expected != "no-store", "{address}: {vary}");
    }
    let protected = siaga.request(rocket::http::Method::Get, "/v1/floods/5/log", "");
    assert_eq!(header(&protected, "Cache-Control").as_deref(), Some("no-store"));
    let tag = header(&siaga.get("/v1/floods"), "ETag").unwrap();
    let known = siaga.client.get("/v1/floods").header(Header::new("If-None-Match", tag)).dispatch();
    assert_eq!(known.status(), Status::NotModified);
    assert_eq!(header(&known, "Cache-Control").as_deref(), Some(PLAIN));
}

#[test]
fn responses_to_requests_with_a_credential_are_private() {
    let siaga = shared();
    for (address, expected) in [("/v1/floods", "private, no-cache"), ("/v1/changes", "no-store")] {
        let response = siaga.client.get(address).header(key(ADMIN_KEY)).dispatch();
        assert_eq!(header(&response, "Cache-Control").as_deref(), Some(expected), "{address}");
    }
    let bad = siaga.client.get("/v1/floods").header(key("a bad key")).dispatch();
    assert_eq!((bad.status().code, header(&bad, "Cache-Control").as_deref()), (403, Some("no-store")));
}

/// The result of `/changes`, and its `Cache-Control`.
fn changes(siaga: &Siaga, since: Option<&str>) -> (Value, String) {
    let address = since.map_or("/v1/changes".to_owned(), |since| format!("/v1/changes?since={since}"));
    let response = siaga.get(&address);
    let control = header(&response, "Cache-Control").unwrap();
    (json_of(response)["result"].clone(), control)
}

#[test]
fn cursors_are_rounded_to_ticks_so_that_clients_share_addresses() {
    let siaga = shared();
    // The fixture's time is not at a tick.
    let to_tick = siaga.now().floor(Duration::from_secs(5)).saturating_add(Duration::from_secs(5));
    siaga.clock.set(to_tick);
    let (full, control) = changes(&siaga, None);
    assert_eq!((&full["full"], control.as_str()), (&json!(true), REPORTS));
    let first = full["cursor"].as_str().unwrap().to_owned();
    assert_eq!(changes(&siaga, Some(&first)).0["areas"], json!([]), "the tick has its states");
    siaga.pass(Duration::from_secs(2));
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    let (same, control) = changes(&siaga, Some(&first));
    assert_eq!((&same["cursor"], &same["areas"]), (&json!(first), &json!([])));
    assert!(control.contains("s-maxage=3,"), "until the tick: {control}");
    // A client that is further, such as a stream, keeps its cursor.
    let truth = siaga.client.get(format!("/v1/changes?since={first}")).header(key(ADMIN_KEY)).dispatch();
    let truth = json_of(truth)["result"].clone();
    assert_eq!(truth["areas"][0]["state"], 4, "a credential gets the truth");
    let ahead = truth["cursor"].as_str().unwrap().to_owned();
    let (further, _) = changes(&siaga, Some(&ahead));
    assert_eq!((&further["cursor"], &further["areas"]), (&json!(ahead), &json!([])));
    siaga.pass(Duration::from_secs(3));
    let (next, control) = changes(&siaga, Some(&first));
    assert_eq!((&next["cursor"], control.as_str()), (&json!(ahead), REPORTS));
    assert_eq!(next["areas"][0]["state"], 4);
    assert_eq!(changes(&siaga, Some(&ahead)).0["areas"], json!([]));
}

#[test]
fn unknown_parameters_are_ignored_and_listed_and_the_order_of_parameters_does_not_matter() {
    let siaga = Siaga::with_setting("siaga.metrics.enabled", true);
    let plain = siaga.get("/v1/floods?city=jbd&minimum_state=1");
    let tag = header(&plain, "ETag");
    assert_eq!(header(&plain, "Siaga-Ignored"), None);
    let misses = || siaga.metric("siaga_cache_misses_total");
    let before = misses();
    for (query, ignored) in [
        ("minimum_state=1&city=jbd", None),
        ("city=jbd&minimum_state=1&a%0d%0ab=1&City=x", Some("a%0D%0Ab, City")),
    ] {
        let address = format!("/v1/floods?{query}");
        let response = siaga.get(&address);
        assert_eq!(response.status(), Status::Ok, "{query}");
        assert_eq!(header(&response, "ETag"), tag, "{query}");
        assert_eq!(header(&response, "Siaga-Ignored").as_deref(), ignored, "{query}");
        assert!(header(&response, "Access-Control-Expose-Headers").unwrap().contains("Siaga-Ignored"));
    }
    assert_eq!(misses(), before, "all have one entry of the cache");
    assert_eq!(siaga.get("/v1/floods?minimum_state=9&_=1").status(), Status::BadRequest);
    let location = header(&siaga.get("/v1/areas?city=jbd&_=1"), "Content-Location").unwrap();
    assert!(location.starts_with("/v1/areas?city=jbd&revision="), "{location}");
}

#[test]
fn a_cache_hit_counts_a_tenth_and_not_for_the_day() {
    let quota = json!({ "per_second": 1, "burst": 10, "per_day": 20 });
    let siaga = Siaga::with_setting("siaga.quota", quota);
    let tag = header(&siaga.get("/v1/floods/states"), "ETag").unwrap();
    let get = |address: &str, known: &str| {
        let peer = SocketAddr::new("192.0.2.1".parse().unwrap(), 4711);
        let request = siaga.client.get(address.to_owned()).remote(peer);
        request.header(Header::new("If-None-Match", known.to_owned())).dispatch().status().code
    };
    for number in 0..40 {
        assert_eq!(get("/v1/floods/states", &tag), 304, "{number}");
        assert_eq!(get("/v1/floods/states", "\"other\""), 200, "{number}");
    }
    // Other requests count as before.
    let statuses: Vec<_> = (0..12).map(|_| get("/v1/nothing", &tag)).collect();
    assert_eq!((statuses[0], statuses[11]), (404, 429), "{statuses:?}");
}
