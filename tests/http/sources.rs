//! Sources of the data: their last sign of life, and the freshness in responses.

use std::sync::Arc;
use std::time::Duration;

use figment::Figment;
use rocket::http::{Header, Method, Status};
use rocket::local::blocking::{Client, LocalResponse};
use serde_json::{Value, json};
use siaga::model::Timestamp;
use siaga::stores::Store;

use crate::fixture::now;
use crate::independent::signing::{claims, token_by_secret};
use crate::suite::eventually::{LONG, eventually, eventually_blocking};
use crate::suite::support::{
    ADMIN_KEY, KEY, OTHER_KEY, SECRET, Siaga, figment, json_of, key, partner_report,
};

/// The desk covers floods and reports, the river only gauges.
fn with_sources() -> Figment {
    let desk = json!({ "subject": "bpbd", "every": "10m", "covers": ["floods", "reports"] });
    let river = json!({ "subject": "gauges", "every": "1h", "covers": ["gauges"] });
    let figment = figment().merge(("siaga.sources", json!({ "desk": desk, "river-2": river })));
    figment.merge(("siaga.metrics.enabled", true))
}

fn start() -> Siaga {
    Siaga::with(with_sources(), |builder| builder)
}

fn at(seconds: u64) -> Timestamp {
    now().saturating_add(Duration::from_secs(seconds))
}

fn heartbeat<'c>(client: &'c Client, source: &str, text: &str) -> LocalResponse<'c> {
    client.put(format!("/v1/sources/{source}/heartbeat")).header(key(text)).dispatch()
}

fn sources(client: &Client) -> Value {
    let response = client.get("/v1/sources").dispatch();
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    json_of(response)["result"].clone()
}

fn last_heard(client: &Client) -> [Value; 2] {
    [0, 1].map(|place| sources(client)[place]["last_heard"].clone())
}

/// Status and time in the freshness headers.
fn headers(response: &LocalResponse<'_>) -> (Option<String>, Option<String>) {
    let header = |name| response.headers().get_one(name).map(str::to_owned);
    (header("Siaga-Data-Status"), header("Siaga-Data-As-Of"))
}

fn freshness(client: &Client, address: &str) -> (Option<String>, Option<String>) {
    let response = client.get(address.to_owned()).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    headers(&response)
}

fn is(status: &str, as_of: Option<Timestamp>) -> (Option<String>, Option<String>) {
    (Some(status.to_owned()), as_of.map(|at| at.to_string()))
}

#[test]
fn sources_are_listed_by_name_without_their_subjects() {
    let siaga = start();
    let never = json!([
        { "name": "desk", "covers": ["floods", "reports"], "last_heard": null, "expected_by": null, "status": "silent" },
        { "name": "river-2", "covers": ["gauges"], "last_heard": null, "expected_by": null, "status": "silent" },
    ]);
    assert_eq!(sources(&siaga.client), never);
    let response = heartbeat(&siaga.client, "desk", KEY);
    assert_eq!(response.status(), Status::Ok);
    let desk = json!({
        "name": "desk", "covers": ["floods", "reports"], "last_heard": at(0), "expected_by": at(600), "status": "ok",
    });
    assert_eq!(json_of(response), desk);
    assert_eq!(sources(&siaga.client), json!([desk, never[1]]));
    let without = Siaga::start();
    assert_eq!(without.result("/v1/sources"), json!([]), "there are none by default");
    assert_eq!(without.result("/health/data")["status"], "unknown");
}

#[test]
fn a_source_is_late_after_its_interval_and_silent_after_three() {
    let siaga = start();
    heartbeat(&siaga.client, "desk", KEY);
    heartbeat(&siaga.client, "river-2", OTHER_KEY);
    let millis = |millis| now().saturating_add(Duration::from_millis(millis));
    for (time, status, code) in [
        (millis(0), "ok", 200),
        (at(600), "ok", 200),
        (millis(600_001), "late", 200),
        (at(1_800), "late", 200),
        (millis(1_800_001), "silent", 503),
    ] {
        siaga.clock.set(time);
        assert_eq!(sources(&siaga.client)[0]["status"], status, "{time}");
        assert_eq!(freshness(&siaga.client, "/v1/floods"), is(status, Some(now())), "{time}");
        let health = siaga.get("/health/data");
        assert_eq!(health.status().code, code, "{time}");
        assert_eq!(health.headers().get_one("Cache-Control"), Some("no-store"));
        let result = json_of(health)["result"].clone();
        assert_eq!((&result["status"], &result["sources"]), (&json!(status), &sources(&siaga.client)));
    }
    heartbeat(&siaga.client, "desk", KEY);
    assert_eq!(siaga.get("/health/data").status(), Status::Ok);
    siaga.clock.set(now());
    assert_eq!(last_heard(&siaga.client)[0], json!(millis(1_800_001)), "though the clock steps back");
}

#[test]
fn a_heartbeat_is_accepted_only_with_a_credential_of_the_subject() {
    let siaga = start();
    let address = "/v1/sources/desk/heartbeat";
    assert_eq!(siaga.client.put(address).dispatch().status(), Status::Forbidden);
    assert_eq!(heartbeat(&siaga.client, "desk", "a wrong key").status(), Status::Forbidden);
    let other = heartbeat(&siaga.client, "desk", ADMIN_KEY);
    assert_eq!(other.status(), Status::Forbidden, "whatever it allows");
    assert!(!json_of(other).to_string().contains("bpbd"));
    assert_eq!(heartbeat(&siaga.client, "Desk", KEY).status(), Status::NotFound);
    assert_eq!(siaga.client.put("/v1/sources/nothing/heartbeat").dispatch().status(), Status::Forbidden);
    assert_eq!(last_heard(&siaga.client), [json!(null), json!(null)]);

    let header = json!({ "alg": "HS256", "typ": "JWT" });
    let token = token_by_secret(SECRET.as_bytes(), &header, &claims(json!({ "sub": "bpbd", "scope": "" })));
    let bearer = Header::new("Authorization", format!("Bearer {token}"));
    let taken = siaga.client.put(address).header(bearer).dispatch();
    assert_eq!(taken.status(), Status::Ok, "a token without scopes");
}

#[test]
fn an_accepted_write_is_a_sign_of_life_of_all_sources_with_its_subject() {
    let figment = with_sources()
        .merge(("siaga.sources.all", json!({ "subject": "root", "every": "1h" })))
        .merge(("siaga.sources.twin", json!({ "subject": "root", "every": "2h" })));
    let siaga = Siaga::with(figment, |builder| builder);
    let last_seen = || {
        let all = sources(&siaga.client);
        let last_seen = all.as_array().unwrap().iter().filter(|source| !source["last_heard"].is_null());
        last_seen.map(|source| source["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    siaga.put("/v1/floods/5", r#"{"state":9}"#);
    siaga.put("/v1/floods/4711", r#"{"state":1}"#);
    siaga.client.get("/v1/floods").header(key(KEY)).dispatch();
    assert_eq!(last_seen(), Vec::<String>::new(), "neither a refused write nor a read");
    assert_eq!(siaga.put("/v1/floods/5", r#"{"state":2}"#).status(), Status::Ok);
    assert_eq!(last_seen(), ["desk"]);
    heartbeat(&siaga.client, "twin", ADMIN_KEY);
    assert_eq!(last_seen(), ["desk", "twin"], "a heartbeat is for one source");
    for (method, address, body) in [
        (Method::Delete, "/v1/floods/5", String::new()),
        (Method::Post, "/v1/cards", r#"{"username":"a","network":"twitter","language":"en"}"#.to_owned()),
        (Method::Post, "/v1/feeds/partner", partner_report(json!({})).to_string()),
    ] {
        siaga.pass(Duration::from_secs(1));
        assert_eq!(siaga.request(method, address, body).status(), Status::Ok, "{address}");
        let (all, time) = (sources(&siaga.client), siaga.now());
        assert_eq!([&all[0]["last_heard"], &all[3]["last_heard"]], [&json!(time), &json!(time)], "{address}");
    }
}

#[test]
fn public_data_has_the_freshness_of_the_sources_that_cover_it() {
    let posts = json!({ "subject": "root", "every": "1m", "covers": ["reports"] });
    let siaga = Siaga::with(with_sources().merge(("siaga.sources.posts", posts)), |builder| builder);
    heartbeat(&siaga.client, "desk", KEY);
    let of_floods = is("ok", Some(now()));
    let archive = "/v1/floods/archive?start=2016-12-19T00:00:00Z&end=2016-12-19T12:00:00Z";
    assert_eq!(freshness(&siaga.client, "/v1/reports"), is("silent", None), "one source was never heard");
    siaga.clock.set(at(30));
    heartbeat(&siaga.client, "posts", ADMIN_KEY);
    for address in ["/v1/floods", "/v1/floods/states", "/v1/alerts", archive, "/v1/stats/floodedRWsSummary"] {
        assert_eq!(freshness(&siaga.client, address), of_floods, "{address}");
    }
    for address in ["/v1/reports", "/v1/stats/reportsSummary"] {
        assert_eq!(freshness(&siaga.client, address), is("ok", Some(now())), "{address}: the oldest");
    }
    assert_eq!(freshness(&siaga.client, "/v1/floodgauges"), is("silent", None));
    for address in ["/v1/infrastructure", "/v1/admin", "/v1/alerts/exercise"] {
        assert_eq!(freshness(&siaga.client, address), is("unknown", None), "{address}");
    }
    siaga.clock.set(at(91));
    assert_eq!(freshness(&siaga.client, "/v1/reports"), is("late", Some(now())), "the worst");
    assert_eq!(freshness(&siaga.client, "/v1/floods"), of_floods);
    let wrong = siaga.get("/v1/floods?city=x");
    assert_eq!(headers(&wrong), (None, None), "an error is no data");
    assert_eq!(headers(&siaga.client.head(archive).dispatch()), of_floods);
}

#[test]
fn the_freshness_headers_change_neither_body_nor_tag_and_are_sent_with_a_304() {
    let (siaga, without) = (start(), Siaga::start());
    let plain = without.get("/v1/floods");
    assert_eq!(headers(&plain), is("unknown", None));
    let tag = plain.headers().get_one("ETag").unwrap().to_owned();
    let body = plain.into_string().unwrap();
    for (time, status) in [(0, "silent"), (1, "ok"), (700, "late")] {
        siaga.clock.set(at(time));
        if status == "ok" {
            heartbeat(&siaga.client, "desk", KEY);
        }
        let expected = is(status, (status != "silent").then(|| at(1)));
        let whole = siaga.get("/v1/floods");
        assert_eq!(headers(&whole), expected);
        assert_eq!(whole.headers().get_one("ETag"), Some(tag.as_str()), "{status}");
        let exposed = whole.headers().get_one("Access-Control-Expose-Headers").unwrap();
        assert!(exposed.contains("Siaga-Data-As-Of, Siaga-Data-Status"), "{exposed}");
        assert_eq!(whole.into_string().unwrap(), body, "{status}");
        let known =
            siaga.client.get("/v1/floods").header(Header::new("If-None-Match", tag.clone())).dispatch();
        assert_eq!(known.status(), Status::NotModified);
        assert_eq!(headers(&known), expected);
    }
}

#[test]
fn a_sign_of_life_on_one_server_reaches_the_other_and_never_goes_back() {
    let siaga = start();
    let other = siaga.another_server(with_sources());
    // A time of one source is stored at most once a second.
    for (seconds, limit) in [(0, Duration::from_secs(1)), (5, LONG)] {
        siaga.clock.set(at(seconds));
        heartbeat(&siaga.client, "desk", KEY);
        let last_seen = || last_heard(&other);
        let expected = [json!(at(seconds)), json!(null)];
        assert_eq!(last_heard(&siaga.client), expected, "at once on the same server");
        eventually_blocking("it shows on the other", limit, last_seen, |last_seen| *last_seen == expected);
        assert_eq!(freshness(&other, "/v1/floods"), is("ok", Some(at(seconds))));
    }
    siaga.clock.set(at(3));
    heartbeat(&other, "desk", KEY);
    let later = siaga.another_server(with_sources());
    assert_eq!(last_heard(&later), [json!(at(5)), json!(null)], "a server that starts knows it");
}

#[test]
fn a_sign_of_life_is_stored_at_shutdown() {
    let siaga = start();
    heartbeat(&siaga.client, "river-2", OTHER_KEY);
    heartbeat(&siaga.client, "desk", KEY);
    siaga.clock.set(at(1));
    heartbeat(&siaga.client, "desk", KEY);
    let store = Arc::clone(siaga.client.rocket().state::<Arc<dyn Store>>().unwrap());
    let stored = siaga.end(async move {
        let stored = async || store.last_heard().await;
        eventually("it is read", LONG, stored, Result::is_ok).await.unwrap()
    });
    assert_eq!(stored.into_iter().collect::<Vec<_>>(), [("desk".into(), at(1)), ("river-2".into(), at(0))]);
}

#[test]
fn a_source_has_metrics() {
    let siaga = start();
    heartbeat(&siaga.client, "desk", KEY);
    siaga.clock.set(at(601));
    assert_eq!(siaga.metric("siaga_source_age_seconds{source=\"desk\"}"), 601.0);
    assert_eq!(siaga.metric("siaga_source_status{source=\"desk\"}"), 1.0);
    assert_eq!(siaga.metric("siaga_source_status{source=\"river-2\"}"), 2.0);
    let page = siaga.get("/metrics").into_string().unwrap();
    assert!(!page.contains("siaga_source_age_seconds{source=\"river-2\"}"), "{page}");
}

#[test]
fn feeds_warn_of_missing_alerts_while_a_source_of_floods_is_silent() {
    let siaga = start();
    let feed = |address: &str| siaga.get(address).into_string().unwrap();
    for (format, element) in [("atom", "<subtitle>"), ("rss", "<description>")] {
        let address = format!("/v1/alerts?geoformat={format}");
        let warning = format!("{element}Sumber data tidak mengirim kabar");
        assert!(feed(&address).contains(&warning), "it was never heard");
        assert_eq!(heartbeat(&siaga.client, "desk", KEY).status(), Status::Ok);
        assert!(!feed(&address).contains(&warning));
        siaga.pass(Duration::from_mins(31));
        assert!(feed(&address).contains(&warning));
    }
    let exercise = feed("/v1/alerts/exercise");
    assert!(!exercise.contains("<subtitle>"), "an exercise has no sources");
}
