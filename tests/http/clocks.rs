//! Times of floods, and clocks that are wrong.

use std::time::Duration;

use rocket::http::Method;
use serde_json::{Value, json};

use crate::fixture::now;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, each, json_of, properties};

fn area(siaga: &Siaga, id: &str) -> Value {
    let all = properties(&siaga.result("/v1/floods?geoformat=topojson"));
    all.into_iter().find(|area| area["area_id"] == id).unwrap()
}

#[test]
fn a_clock_that_was_ahead_blocks_no_other_area_and_is_reported() {
    let siaga = Siaga::start();
    let right = now();
    siaga.clock.set(right.saturating_add(Duration::from_hours(2)));
    assert_eq!(siaga.put("/v1/floods/1", r#"{"state":3}"#).status().code, 200);
    let ahead = area(&siaga, "1");
    siaga.clock.set(right);
    assert_eq!(siaga.put("/v1/floods/10", r#"{"state":4}"#).status().code, 200);

    assert_eq!(area(&siaga, "1"), ahead, "shown at once, under its stored time");
    assert_eq!(area(&siaga, "10")["last_updated"], json!(right));
    let alerts = each(&siaga.result("/v1/alerts?geoformat=topojson"), "area_id");
    assert!(alerts.contains(&json!("1")) && alerts.contains(&json!("10")), "{alerts:?}");
    let changes = siaga.result("/v1/changes");
    let changed: Vec<_> =
        changes["areas"].as_array().unwrap().iter().map(|member| &member["area_id"]).collect();
    assert!(changed.contains(&&json!("1")) && changed.contains(&&json!("10")), "{changes}");

    let ready = || json_of(siaga.get("/health/ready"))["result"].clone();
    eventually_blocking("it is degraded", LONG, ready, |result| result["status"] == "degraded");
    let check = |result: Value| {
        let checks = result["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "changes").unwrap()
    };
    let found = check(ready());
    assert_eq!((&found["required"], &found["ok"]), (&json!(false), &json!(false)));
    assert!(found["reason"].as_str().unwrap().contains("ahead of the clock"), "{found}");
    let ahead = || json_of(siaga.get("/health/data"))["result"]["seconds_ahead"].clone();
    assert_eq!(ahead(), 7_200);
    siaga.clock.set(right.saturating_add(Duration::from_hours(2)));
    assert_eq!(ahead(), Value::Null);
    eventually_blocking("it is ready", LONG, || check(ready()), |check| check["ok"] == true);
}

#[test]
fn every_resource_has_the_times_since_when_an_area_is_flooded_confirmed_or_dry() {
    let siaga = Siaga::start();
    let hours = |hours| now().saturating_add(Duration::from_hours(hours));
    let set = |hour, body: &str| {
        siaga.clock.set(hours(hour));
        assert_eq!(siaga.request(Method::Put, "/v1/floods/10", body).status().code, 200);
    };
    set(1, r#"{"state":2}"#);
    set(2, r#"{"state":2}"#);
    let changes = json!({ "changes": [{ "area_id": "10", "state": null }] }).to_string();
    siaga.clock.set(hours(3));
    let cleared = json_of(siaga.request(Method::Post, "/v1/floods/changes", &changes));
    let dry = json!({
        "state": null, "last_updated": null, "flooded_since": null, "confirmed": null, "over_since": hours(3),
    });
    let shown = |from: &Value| -> Value {
        let member = |name: &str| (name.to_owned(), from[name].clone());
        ["state", "last_updated", "flooded_since", "confirmed", "over_since"]
            .map(member)
            .into_iter()
            .collect()
    };
    let in_changes = || {
        let changes = siaga.result("/v1/changes");
        changes["areas"].as_array().unwrap().iter().find(|member| member["area_id"] == "10").cloned()
    };
    assert_eq!(shown(&area(&siaga, "10")), dry);
    let one = |address: &str| properties(&siaga.result(address))[0].clone();
    assert_eq!(shown(&one("/v1/areas/10?geoformat=topojson")), dry);

    siaga.clock.set(hours(4));
    let undo = format!("/v1/floods/changes/{}/undo", cleared["result"]["batch"]);
    assert_eq!(siaga.request(Method::Post, &undo, "").status().code, 200);
    let flooded = json!({
        "state": 2, "last_updated": hours(4), "flooded_since": hours(1), "confirmed": hours(2), "over_since": null,
    });
    assert_eq!(shown(&area(&siaga, "10")), flooded);
    assert_eq!(shown(&one("/v1/areas/10?geoformat=topojson")), flooded);
    assert_eq!(shown(&in_changes().unwrap()), flooded);
    let states = siaga.result("/v1/floods/states");
    let state = states.as_array().unwrap().iter().find(|member| member["area_id"] == "10").unwrap();
    assert_eq!((&state["flooded_since"], &state["confirmed"]), (&json!(hours(1)), &json!(hours(2))));
    // Unconfirmed counts from the confirmation, not from the undo.
    siaga.clock.set(hours(2).saturating_add(Duration::from_hours(20)));
    let attention = json_of(siaga.request(Method::Get, "/v1/floods/attention", ""));
    let listed =
        attention["result"].as_array().unwrap().iter().find(|member| member["area_id"] == "10").unwrap();
    assert_eq!(listed["reasons"][0]["since"], json!(hours(2)), "{listed}");
    assert_eq!(siaga.now(), hours(22));
}
