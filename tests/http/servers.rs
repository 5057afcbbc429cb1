//! Several servers on one store: readiness, and changes by the others.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rocket::http::Status;
use rocket::local::blocking::Client;
use serde_json::{Value, json};

use crate::fixture;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{KEY, Siaga, figment, json_of, key};

pub(crate) fn delta(client: &Client, query: &str) -> Value {
    let response = client.get(format!("/v1/changes{query}")).dispatch();
    assert_eq!(response.status(), Status::Ok, "{query}");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    json_of(response)["result"].clone()
}

pub(crate) fn cursor(delta: &Value) -> String {
    delta["cursor"].as_str().unwrap().to_owned()
}

pub(crate) fn states(delta: &Value) -> Vec<(String, Value)> {
    let areas = delta["areas"].as_array().unwrap();
    areas.iter().map(|area| (area["area_id"].as_str().unwrap().to_owned(), area["state"].clone())).collect()
}

/// Applies a delta to the state of a client.
pub(crate) fn apply(known: &mut BTreeMap<String, Value>, delta: &Value) {
    if delta["full"] == true {
        known.clear();
    }
    for (area, state) in states(delta) {
        if state.is_null() {
            known.remove(&area)
        } else {
            known.insert(area, state)
        };
    }
}

#[test]
fn a_service_with_its_dependencies_is_live_and_ready() {
    let siaga = Siaga::start();
    let live = siaga.get("/health/live");
    assert_eq!(live.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(json_of(live), json!({ "statusCode": 200, "result": { "status": "live" } }));
    let ready = siaga.get("/health/ready");
    assert_eq!((ready.status(), ready.headers().get_one("Cache-Control")), (Status::Ok, Some("no-store")));
    let body = json_of(ready);
    assert_eq!((&body["statusCode"], &body["result"]["status"]), (&json!(200), &json!("ready")), "{body}");
    let checks = body["result"]["checks"].as_array().unwrap();
    let found: Vec<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    let expected: [&[&str]; 3] = [
        &["store", "images", "changes"],
        &["store", "file", "images", "changes"],
        &["store", "migrations", "clock", "listener", "images", "changes"],
    ];
    assert!(expected.contains(&&*found), "{body}");
    assert!(checks.iter().all(|check| check["ok"] == true && check["ms"].is_u64()), "{body}");
}

#[test]
fn a_waiting_request_returns_the_change_of_another_server() {
    let siaga = Siaga::start();
    let other = siaga.another_server(figment());
    let first = cursor(&delta(&siaga.client, ""));
    // A server that reads the states for the first time after the change sends all of them.
    delta(&other, "");
    let address = format!("?since={first}&wait=30");
    let waiting = std::thread::spawn(move || {
        let begun = Instant::now();
        (delta(&other, &address), begun.elapsed())
    });
    assert_eq!(siaga.put("/v1/floods/2", r#"{"state":1}"#).status(), Status::Ok);
    let (found, took) = waiting.join().unwrap();
    assert_eq!(states(&found), [("2".to_owned(), json!(1))]);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn a_client_that_applies_all_deltas_of_two_servers_has_the_current_states() {
    let siaga = Siaga::start();
    let servers = [siaga.another_server(figment()), siaga.another_server(figment())];
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    let mut since: Option<String> = None;
    for number in 0..120_u64 {
        // The clock occasionally steps back.
        let now = fixture::now().saturating_add(Duration::from_secs(60 * (number % 17)));
        siaga.clock.set(now);
        let area = [1, 2, 5, 10, 30][(number * 7 % 5) as usize];
        let server = &servers[(number % 2) as usize];
        let (address, code) = (format!("/v1/floods/{area}"), number * 3 % 5);
        let request = if code == 0 { server.delete(address) } else { server.put(address) };
        let body = format!("{{\"state\":{code}}}");
        assert_eq!(request.header(key(KEY)).body(body).dispatch().status(), Status::Ok);
        if number % 3 == 0 {
            continue;
        }
        // Reads from the other server, whose listener may not have received the change yet.
        let reader = &servers[(number / 3 % 2) as usize];
        let look = || {
            let found =
                delta(reader, &since.as_ref().map_or(String::new(), |since| format!("?since={since}")));
            apply(&mut known, &found);
            since = Some(cursor(&found));
            let current = json_of(reader.get("/v1/floods/states").dispatch());
            (known.clone(), states(&json!({ "areas": current["result"] })).into_iter().collect())
        };
        // The notification may arrive between the two responses.
        eventually_blocking(&format!("change {number}"), LONG, look, |(known, current)| known == current);
    }
}
