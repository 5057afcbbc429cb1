//! The response cache: cached responses equal rendered ones, and conditional requests get 304.

use std::io::Read;
use std::time::Duration;

use proptest::prelude::*;
use rocket::http::{Header, Method, Status};
use rocket::local::blocking::Client;
use serde_json::json;

use crate::fixture;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{ADMIN_KEY, Siaga, figment, key, partner_report};

const SHORTER: [&str; 2] = ["gzip", "br"];

fn with_coding(
    siaga: &Siaga,
    address: &str,
    coding: &str,
    tag: Option<&str>,
) -> (Status, Option<String>, String, Vec<u8>) {
    let mut request = siaga.client.get(address.to_owned());
    request.add_header(Header::new("Accept-Encoding", coding.to_owned()));
    if let Some(tag) = tag {
        request.add_header(Header::new("If-None-Match", tag.to_owned()));
    }
    let response = request.dispatch();
    let header = |name| response.headers().get_one(name).map(str::to_owned);
    let (status, coding, tag) = (response.status(), header("Content-Encoding"), header("ETag").unwrap());
    (status, coding, tag, response.into_bytes().unwrap_or_default())
}

fn decoded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    match coding {
        "gzip" => drop(flate2::read::GzDecoder::new(bytes).read_to_end(&mut read).unwrap()),
        "br" => brotli::BrotliDecompress(&mut &*bytes, &mut read).unwrap(),
        other => panic!("{other}"),
    }
    read
}

#[test]
fn a_compressed_response_has_its_own_entity_tag() {
    let siaga = Siaga::start();
    for address in ["/v1/floods", "/v1/floods?geoformat=geojson", "/v1/floods?city=jbd"] {
        let (status, coding, tag, plain) = with_coding(&siaga, address, "identity", None);
        assert_eq!((status, coding), (Status::Ok, None), "{address}");
        for name in SHORTER {
            let (status, coding, coded_tag, bytes) = with_coding(&siaga, address, name, None);
            assert_eq!((status, coding.as_deref()), (Status::Ok, Some(name)), "{address}");
            assert_eq!(decoded(name, &bytes), plain, "{address} {name}");
            assert_ne!(coded_tag, tag);
            let (status, coding, again, body) = with_coding(&siaga, address, name, Some(&coded_tag));
            assert_eq!((status, coding, again), (Status::NotModified, None, coded_tag.clone()));
            assert!(body.is_empty());
            // A client that no longer accepts the encoding holds another representation.
            assert_eq!(with_coding(&siaga, address, "identity", Some(&coded_tag)).0, Status::Ok);
            // The identity representation is valid for a client that accepts it too.
            assert_eq!(with_coding(&siaga, address, name, Some(&tag)).0, Status::NotModified);
        }
    }
}

#[test]
fn responses_that_are_not_cached_are_compressed_and_short_ones_are_not() {
    let siaga = Siaga::with_setting("siaga.cache.size", "0");
    for name in SHORTER {
        let (_, coding, _, bytes) = with_coding(&siaga, "/v1/floods", name, None);
        assert_eq!(coding.as_deref(), Some(name));
        assert_eq!(decoded(name, &bytes), siaga.get("/v1/floods").into_bytes().unwrap());
    }
    let (_, coding, _, bytes) = with_coding(&siaga, "/v1/stats/floodedRWsSummary", "gzip", None);
    assert_eq!((coding, bytes.len() < 1024), (None, true));
}

#[test]
fn head_requests_and_304_compress_nothing() {
    let siaga = Siaga::with_setting("siaga.metrics.enabled", true);
    let cached = || siaga.metric("siaga_cache_bytes") as u64;
    let address = "/v1/floods?geoformat=cap";
    let gzip = || Header::new("Accept-Encoding", "gzip");
    let head = siaga.client.head(address).header(gzip()).dispatch();
    assert_eq!(head.headers().get_one("Content-Encoding"), None);
    let tag = head.headers().get_one("ETag").unwrap().to_owned();
    let plain = cached();
    assert_eq!(with_coding(&siaga, address, "gzip", Some(&tag)).0, Status::NotModified);
    assert_eq!(cached(), plain);
    let (_, coding, tag, bytes) = with_coding(&siaga, address, "gzip", None);
    assert_eq!(coding.as_deref(), Some("gzip"));
    let expected = plain + bytes.len() as u64;
    eventually_blocking("the compressed form is cached", LONG, cached, |cached| *cached == expected);
    let head = siaga.client.head(address).header(gzip()).dispatch();
    assert_eq!(head.headers().get_one("ETag"), Some(tag.as_str()), "HEAD tells what GET does");
}

#[test]
fn responses_to_writes_and_private_responses_are_not_compressed() {
    let siaga = Siaga::start();
    for (method, address) in [(Method::Put, "/v1/floods/5"), (Method::Get, "/v1/feeds")] {
        let request = siaga.client.req(method, address).header(key(ADMIN_KEY)).body(r#"{"state":2}"#);
        let response = request.header(Header::new("Accept-Encoding", "gzip")).dispatch();
        assert_eq!(response.status(), Status::Ok);
        assert_eq!(response.headers().get_one("Content-Encoding"), None);
        assert_eq!(response.headers().get_one("ETag"), None);
        assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    }
}

/// A step of a random sequence.
#[derive(Clone, Debug)]
enum Step {
    /// Milliseconds.
    Wait(u64),
    Send(Method, String, String),
    Get(String),
}

fn write() -> impl Strategy<Value = Step> {
    let areas = prop::sample::select(vec![1u64, 2, 5, 10, 30]);
    let created = (0..4200i64).prop_map(|seconds| {
        let at = fixture::now().to_utc() + chrono::TimeDelta::seconds(seconds - 3600);
        at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    });
    let location = r#""location":{"lat":-6.19,"lng":106.81}"#;
    prop_oneof![
        (areas.clone(), 1..=4).prop_map(|(area, state)| {
            Step::Send(Method::Put, format!("floods/{area}"), format!(r#"{{"state":{state}}}"#))
        }),
        areas.prop_map(|area| Step::Send(Method::Delete, format!("floods/{area}"), String::new())),
        (1..200u64, created.clone()).prop_map(move |(post, created)| {
            let body = partner_report(json!({ "post_id": post, "created_at": created }));
            Step::Send(Method::Post, "feeds/partner".to_owned(), body.to_string())
        }),
        (created, 0..300).prop_map(move |(at, level)| {
            let reading = format!(r#"{{"observed_at":"{at}","level":{level},"alert":2,"label":"x"}}"#);
            let body =
                format!(r#"{{"gaugeid":"T1","gaugenameid":"x",{location},"observations":[{reading}]}}"#);
            Step::Send(Method::Put, "floodgauges".to_owned(), body)
        }),
    ]
}

fn read() -> impl Strategy<Value = Step> {
    let period = "start=2016-12-19T00:00:00Z&end=2016-12-20T12:00:00Z";
    let addresses = [
        "floods".to_owned(),
        "floods?city=jbd&geoformat=geojson".to_owned(),
        "floods?minimum_state=2".to_owned(),
        "floods?bbox=106.7,-6.3,106.9,-6.1".to_owned(),
        "floods?format=xml".to_owned(),
        "floods/states".to_owned(),
        format!("floods/archive?{period}"),
        format!("floods/timeseries?{period}"),
        "reports".to_owned(),
        "reports?timeperiod=60&geoformat=geojson".to_owned(),
        format!("reports/archive?{period}"),
        format!("reports/timeseries?{period}"),
        "reports/1".to_owned(),
        "floodgauges".to_owned(),
        "infrastructure/pumps".to_owned(),
        "admin".to_owned(),
        "alerts".to_owned(),
        "alerts?geoformat=rss&minimum_state=3".to_owned(),
        "alerts/history?area=5".to_owned(),
        "stats/floodedRWsSummary".to_owned(),
        "stats/reportsSummary".to_owned(),
    ];
    prop::sample::select(addresses.to_vec()).prop_map(Step::Get)
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![1..2000u64, 1..100_000u64, 1..4_000_000u64].prop_map(Step::Wait);
    prop_oneof![2 => write(), 6 => read(), 1 => wait]
}

/// Status, media type, tag and body.
fn response_parts(client: &Client, address: &str) -> (u16, Option<String>, Option<String>, String) {
    let response = client.get(format!("/v1/{address}")).dispatch();
    let header = |name| response.headers().get_one(name).map(str::to_owned);
    let (status, media_type, tag) = (response.status().code, header("Content-Type"), header("ETag"));
    (status, media_type, tag, response.into_string().unwrap_or_default())
}

#[test]
fn cached_responses_equal_fresh_ones_byte_for_byte() {
    proptest!(ProptestConfig::with_cases(6), |(steps in prop::collection::vec(step(), 120))| {
        let cached = Siaga::start();
        // Another server on the same store.
        let uncached = cached.another_server(figment().merge(("siaga.cache.size", 0)));
        for step in steps {
            match step {
                Step::Wait(milliseconds) => cached.pass(Duration::from_millis(milliseconds)),
                Step::Send(method, address, body) => {
                    let status = cached.request(method, &format!("/v1/{address}"), body).status();
                    prop_assert_eq!(status.class().is_success(), true, "{}", address);
                }
                Step::Get(address) => {
                    let expected = response_parts(&uncached, &address);
                    let first = response_parts(&cached.client, &address);
                    prop_assert!(first == expected, "{address}: {first:?} is not {expected:?}");
                    prop_assert!(response_parts(&cached.client, &address) == expected, "{address}, second request");
                }
            }
        }
    });
}

fn etag(siaga: &Siaga, address: &str) -> String {
    siaga.get(address).headers().get_one("ETag").unwrap().to_owned()
}

#[test]
fn a_current_response_is_304_until_it_changes() {
    let siaga = Siaga::start();
    for address in
        ["/v1/floods", "/v1/floods?geoformat=geojson", "/v1/floods?geoformat=cap", "/v1/floods/states"]
    {
        let old = etag(&siaga, address);
        assert!(old.starts_with('"') && old.ends_with('"'), "a strong tag: {old}");
        let step = |tags: &str| {
            siaga.client.get(address).header(Header::new("If-None-Match", tags.to_owned())).dispatch()
        };
        for tags in [old.clone(), format!("\"other\", {old}"), format!("W/{old}"), "*".to_owned()] {
            let response = step(&tags);
            assert_eq!(response.status(), Status::NotModified, "{address} {tags}");
            assert_eq!(response.headers().get_one("ETag"), Some(old.as_str()));
        }
        for tags in ["\"other\"", "\"x,*,y\"", "\"other\", *"] {
            assert_eq!(step(tags).status(), Status::Ok, "{tags}");
        }
        siaga.put("/v1/floods/2", r#"{"state":1}"#);
        assert_eq!(step(&old).status(), Status::Ok, "{address}");
        siaga.delete("/v1/floods/2");
    }
}

#[test]
fn head_of_an_uncached_period_renders_nothing() {
    let siaga = Siaga::with_setting("siaga.metrics.enabled", true);
    let ends = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    let renderings = || siaga.metric("siaga_cache_misses_total");
    for address in [
        format!("/v1/reports/archive?{ends}"),
        format!("/v1/reports/timeseries?{ends}"),
        format!("/v1/floods/archive?{ends}"),
        format!("/v1/floods/timeseries?{ends}"),
        "/v1/reports?timeperiod=3601".to_owned(),
        "/v1/floodgauges?timeperiod=60".to_owned(),
    ] {
        let before = renderings();
        let head = siaga.client.head(address.as_str()).dispatch();
        assert_eq!(head.status(), Status::Ok, "{address}");
        assert_eq!(renderings(), before, "{address}");
        let header = |name| head.headers().get_one(name);
        assert_eq!(header("Content-Type"), Some("application/json"), "{address}");
        assert_eq!(header("Cache-Control"), Some("public, no-cache, stale-if-error=3600"));
        assert_eq!(header("Vary"), Some("Accept, Accept-Encoding"));
        assert_eq!((header("ETag"), header("Content-Length")), (None, None));
        // Once cached, HEAD returns the headers of GET.
        let tag = etag(&siaga, &address);
        let head = siaga.client.head(address.as_str()).dispatch();
        assert_eq!(head.headers().get_one("ETag"), Some(tag.as_str()), "{address}");
    }
    // HEAD renders resources with few variants.
    for address in ["/v1/floods", "/v1/floods/states", "/v1/reports", "/v1/reports/1", "/v1/floodgauges"] {
        assert!(siaga.client.head(address).dispatch().headers().contains("ETag"), "{address}");
    }
    let wrong = siaga.client.head("/v1/reports/archive?start=2016-12-19T00:00:00Z").dispatch();
    assert_eq!(wrong.status(), Status::BadRequest);
}
