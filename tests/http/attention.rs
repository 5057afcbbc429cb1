//! Which areas need attention: `/floods/attention`.

use std::time::Duration;

use rocket::http::{Method, Status};
use serde_json::{Value, json};

use crate::fixture::now;
use crate::suite::support::{KEY, Siaga, json_of, key};

fn listed(siaga: &Siaga) -> Vec<Value> {
    // The list is rebuilt at most every two seconds.
    siaga.pass(Duration::from_secs(2));
    let response = siaga.client.get("/v1/floods/attention").header(key(KEY)).dispatch();
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    json_of(response)["result"].as_array().unwrap().clone()
}

fn reasons(siaga: &Siaga, area: &str) -> Vec<Value> {
    let found = listed(siaga).into_iter().find(|listed| listed["area_id"] == area);
    found.map_or_else(Vec::new, |listed| listed["reasons"].as_array().unwrap().clone())
}

fn find_reason(kind: &str, reasons: &[Value]) -> Option<Value> {
    reasons.iter().find(|reason| reason["reason"] == kind).cloned()
}

/// Reports a flood in area 1, this many minutes after the fixture's time.
fn report(siaga: &Siaga, minutes: u64, depth: Option<u32>, is_training: bool) -> Value {
    let at = now().saturating_add(Duration::from_mins(minutes));
    siaga.clock.set(at);
    let body = json!({
        "disaster_type": "flood", "text": "<script>alert(1)</script>", "created_at": at, "is_training": is_training,
        "card_data": { "report_type": "flood", "flood_depth": depth.unwrap_or(0) },
        "location": { "lat": -6.195, "lng": 106.805 },
    });
    let address = format!("/v1/cards/{}", siaga.card());
    assert_eq!(siaga.request(Method::Put, &address, body.to_string()).status(), Status::Ok);
    json_of(siaga.request(Method::Get, &address, ""))["result"]["report_id"].clone()
}

#[test]
fn reports_put_an_area_on_the_list_at_once_and_a_change_removes_it() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/1", r#"{"state":1}"#);
    siaga.clock.set(now().saturating_add(Duration::from_mins(1)));
    assert_eq!(find_reason("reports", &reasons(&siaga, "1")), None);
    report(&siaga, 10, Some(60), true);
    assert_eq!(find_reason("reports", &reasons(&siaga, "1")), None, "a training");
    let first = report(&siaga, 12, Some(60), false);
    let second = report(&siaga, 14, Some(90), false);
    let reason = find_reason("reports", &reasons(&siaga, "1")).unwrap();
    assert_eq!((&reason["report_ids"], &reason["depths"]), (&json!([first, second]), &json!([60.0, 90.0])));
    let all = listed(&siaga);
    assert_eq!(all[0]["area_id"], "1", "the newest reason first");
    assert_eq!((&all[0]["state"], &all[0]["suggested"]["state"]), (&json!(1), &json!(3)));
    let evidence = &all[0]["suggested"]["evidence"];
    assert_eq!(evidence["report_ids"], json!([first, second]));
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 1, "it never sets a state");
    // A hidden report does not count.
    for report in [&first, &second] {
        let address = format!("/v1/reports/{}/visibility", report.as_str().unwrap());
        let hidden = json!({ "hidden": true, "reason": "spam" }).to_string();
        assert_eq!(siaga.request(Method::Put, &address, hidden).status(), Status::Ok);
    }
    assert_eq!(find_reason("reports", &reasons(&siaga, "1")), None);
    report(&siaga, 20, None, false);
    assert!(find_reason("reports", &reasons(&siaga, "1")).is_some());
    siaga.clock.set(now().saturating_add(Duration::from_mins(21)));
    siaga.delete("/v1/floods/1");
    assert_eq!(find_reason("reports", &reasons(&siaga, "1")), None, "the officer has seen to it");
}

#[test]
fn a_state_that_nobody_confirms_is_on_the_list_after_the_configured_time() {
    let siaga = Siaga::with_setting("siaga.attention.unconfirmed", "2h");
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    let after = |minutes| siaga.clock.set(now().saturating_add(Duration::from_mins(minutes)));
    after(119);
    assert_eq!(find_reason("unconfirmed", &reasons(&siaga, "1")), None);
    after(120);
    let reason = find_reason("unconfirmed", &reasons(&siaga, "1")).unwrap();
    assert_eq!(reason["lapses"], "2016-12-20T16:08:52.000Z");
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    assert_eq!(find_reason("unconfirmed", &reasons(&siaga, "1")), None, "still so");
}
