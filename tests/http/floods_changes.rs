//! Batches: `/floods/changes`, their undo, and `/floods/log`.

use std::time::Duration;

use rocket::http::{Header, Status};
use serde_json::{Value, json};

use crate::fixture::{self, id, now};
use crate::suite::floods_log::log;
use crate::suite::support::{KEY, Siaga, assert_invalid, json_of, key};

const ADDRESS: &str = "/v1/floods/changes";
const REQUEST: &str = "0b0e7a4c-53ab-4b49-9f7c-1f6dd7a0f1d2";

fn post(siaga: &Siaga, address: &str, body: &Value, request: Option<&str>) -> (Status, Value) {
    let mut sent = siaga.client.post(address.to_owned()).header(key(KEY)).body(body.to_string());
    if let Some(request) = request {
        sent = sent.header(Header::new("Idempotency-Key", request.to_owned()));
    }
    let response = sent.dispatch();
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    (response.status(), json_of(response))
}

fn done(siaga: &Siaga, body: &Value) -> Value {
    let (status, body) = post(siaga, ADDRESS, body, None);
    assert_eq!(status, Status::Ok, "{body}");
    body["result"].clone()
}

fn undo(siaga: &Siaga, batch: &Value) -> (Status, Value) {
    post(siaga, &format!("{ADDRESS}/{batch}/undo"), &json!({}), None)
}

/// The areas with a state.
fn states(siaga: &Siaga) -> Vec<(String, Value)> {
    let states = siaga.result("/v1/floods/states");
    let state = |area: &Value| (area["area_id"].as_str().unwrap().to_owned(), area["state"].clone());
    states.as_array().unwrap().iter().map(state).collect()
}

#[test]
fn a_batch_sets_and_clears_areas_at_one_time_and_returns_them() {
    let siaga = Siaga::start();
    siaga.clock.set(now().saturating_add(Duration::from_hours(1)));
    let batch = json!({
        "changes": [{ "area_id": "10", "state": 4 }, { "area_id": 5, "state": null }, { "area_id": "1", "state": 1 }],
        "note": "kelurahan telephoned",
    });
    let address = format!("{ADDRESS}?username=Sri");
    let (status, body) = post(&siaga, &address, &batch, None);
    assert_eq!(status, Status::Ok, "{body}");
    let at = "2016-12-19T17:08:52.000Z";
    let result = &body["result"];
    assert_eq!((&result["batch"], &result["changed_at"]), (&json!(1), &json!(at)));
    let changed = &result["changed"];
    assert_eq!(changed.as_array().unwrap().len(), 3);
    assert_eq!(changed[1]["last_updated"], Value::Null);
    assert_eq!(changed[0]["area_name"], fixture::areas()[0].name);
    assert_eq!(
        states(&siaga),
        [("1".to_owned(), json!(1)), ("10".to_owned(), json!(4)), ("30".to_owned(), json!(3))]
    );
    let entries = log(&siaga, "/v1/floods/log?batch=1");
    assert_eq!(entries.len(), 3);
    assert_eq!(
        entries[1],
        json!({
            "area_id": "5", "area_name": changed[1]["area_name"], "parent_name": changed[1]["parent_name"],
            "changed_at": at, "state": null, "subject": "bpbd", "username": "Sri", "batch": 1,
            "note": "kelurahan telephoned", "undoes": null,
        })
    );
}

#[test]
fn an_area_can_be_named_by_its_geometry() {
    let siaga = Siaga::start();
    let areas = fixture::areas();
    let geometry = &areas[areas.position(id(10)).unwrap()].geom_id;
    let changed = done(&siaga, &json!({ "changes": [{ "geom_id": geometry, "state": 2 }] }));
    assert_eq!(changed["changed"][0]["area_id"], "10");
    let (status, body) =
        post(&siaga, ADDRESS, &json!({ "changes": [{ "geom_id": "nowhere", "state": 2 }] }), None);
    assert_eq!((status, &body["unknown"]), (Status::NotFound, &json!(["nowhere"])));
    let twice = json!({ "changes": [{ "geom_id": geometry, "state": 2 }, { "area_id": 10, "state": 1 }] });
    assert_eq!(post(&siaga, ADDRESS, &twice, None).1["validation"]["keys"], json!(["changes.1.area_id"]));
}

#[test]
fn unknown_areas_are_404_with_all_of_their_ids() {
    let siaga = Siaga::start();
    let before = states(&siaga);
    let areas = std::iter::once(1).chain(1_000..1_030);
    let changes: Vec<_> = areas.map(|area| json!({ "area_id": area.to_string(), "state": 1 })).collect();
    let (status, body) = post(&siaga, ADDRESS, &json!({ "changes": changes }), None);
    assert_eq!(status, Status::NotFound);
    assert_eq!(body["unknown"].as_array().unwrap().len(), 30);
    assert!(body["message"].as_str().unwrap().ends_with("1018, 1019 and 10 more"), "{body}");
    assert_eq!(states(&siaga), before);
}

#[test]
fn an_area_changed_by_another_officer_is_409_with_author_and_time() {
    let siaga = Siaga::start();
    let seen = siaga.result("/v1/floods/states")[0]["last_updated"].clone();
    siaga.clock.set(now().saturating_add(Duration::from_hours(1)));
    siaga.put("/v1/floods/5?username=Sri", r#"{"state":3}"#);
    let batch = json!({ "changes": [
        { "area_id": "5", "state": 2, "after": seen },
        { "area_id": "1", "state": 2, "after": null },
        { "area_id": "10", "state": 2, "after": seen },
    ] });
    let (status, body) = post(&siaga, ADDRESS, &batch, None);
    assert_eq!(status, Status::Conflict);
    let conflicts = body["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 2);
    let values = |member: &str| conflicts.iter().map(|conflict| conflict[member].clone()).collect::<Vec<_>>();
    assert_eq!(values("area_id"), ["5", "10"]);
    assert_eq!(values("state"), [json!(3), json!(null)]);
    assert_eq!(values("since"), [json!("2016-12-19T17:08:52.000Z"), json!(null)]);
    assert_eq!(values("by"), [json!("bpbd"), json!(null)]);
    assert_eq!(values("username"), [json!("Sri"), json!(null)]);
    assert_eq!(states(&siaga).len(), 2, "nothing was stored");
}

#[test]
fn a_repeated_request_gets_the_first_response_and_another_body_is_422() {
    let siaga = Siaga::start();
    let batch = json!({ "changes": [{ "area_id": "1", "state": 2 }] });
    let first = post(&siaga, ADDRESS, &batch, Some(REQUEST));
    siaga.clock.set(now().saturating_add(Duration::from_hours(1)));
    siaga.delete("/v1/floods/1");
    assert_eq!(post(&siaga, ADDRESS, &batch, Some(REQUEST)), first);
    let other = json!({ "changes": [{ "area_id": "2", "state": 2 }] });
    let (status, body) = post(&siaga, ADDRESS, &other, Some(REQUEST));
    assert_eq!(status, Status::UnprocessableEntity, "{body}");
    let (status, _) = post(&siaga, &format!("{ADDRESS}/1/undo"), &json!({}), Some(REQUEST));
    assert_eq!(status, Status::UnprocessableEntity);
    assert_eq!(states(&siaga).len(), 2, "the area is dry, as it was set since");
    for wrong in ["", "0b0e7a4c53ab4b499f7c1f6dd7a0f1d2"] {
        let request = Header::new("Idempotency-Key", wrong);
        let response =
            siaga.client.post(ADDRESS).header(key(KEY)).header(request).body(batch.to_string()).dispatch();
        assert_invalid(response, "headers", &["Idempotency-Key"], "must be one UUID");
    }
}

#[test]
fn an_undo_restores_the_previous_states_once_and_lists_the_areas_it_skipped() {
    let siaga = Siaga::start();
    let before = states(&siaga);
    let request = json!({ "changes": [{ "area_id": "1", "state": 2 }, { "area_id": "5", "state": 4 }, { "area_id": "30", "state": null }] });
    let batch = done(&siaga, &request)["batch"].clone();
    siaga.clock.set(now().saturating_add(Duration::from_hours(1)));
    siaga.put("/v1/floods/1", r#"{"state":3}"#);
    let (status, body) = undo(&siaga, &batch);
    assert_eq!(status, Status::Ok, "{body}");
    assert_eq!(body["result"]["left"], json!(["1"]));
    assert_eq!(undo(&siaga, &batch).1, body, "the second time changes nothing");
    assert_eq!(states(&siaga), [vec![("1".to_owned(), json!(3))], before].concat());
    assert_eq!(undo(&siaga, &json!(99)).0, Status::NotFound);
    assert_eq!(undo(&siaga, &json!(0)).0, Status::BadRequest);
    siaga.clock.set(now().saturating_add(Duration::from_hours(48)));
    let old = done(&siaga, &request)["batch"].clone();
    siaga.clock.set(now().saturating_add(Duration::from_hours(73)));
    assert_eq!(undo(&siaga, &old).0, Status::Conflict);
}

#[test]
fn a_preview_returns_the_alerts_that_would_be_sent_and_stores_nothing() {
    let siaga = Siaga::start();
    let before = (states(&siaga), log(&siaga, "/v1/floods/log").len());
    let batch = json!({ "preview": true, "changes": [
        { "area_id": "1", "state": 2 }, { "area_id": "2", "state": 2 }, { "area_id": "5", "state": 3 },
        { "area_id": "10", "state": null },
    ] });
    let shown = done(&siaga, &batch);
    assert_eq!(shown["alerts"], json!({ "new": 2, "updates": 1, "cancels": 0 }));
    assert_eq!((&shown["batch"], shown["changed"].as_array().unwrap().len()), (&Value::Null, 4));
    assert_eq!((states(&siaga), log(&siaga, "/v1/floods/log").len()), before);
    let over = json!({ "preview": true, "changes": [{ "area_id": "5", "state": null }] });
    assert_eq!(done(&siaga, &over)["alerts"], json!({ "new": 0, "updates": 0, "cancels": 1 }));
}

#[test]
fn an_invalid_batch_is_400_with_all_of_its_faults() {
    let siaga = Siaga::start();
    let assert_wrong = |batch: Value, keys: &[&str]| {
        let (status, body) = post(&siaga, ADDRESS, &batch, None);
        assert_eq!((status, &body["validation"]["keys"]), (Status::BadRequest, &json!(keys)), "{batch}");
    };
    for (change, member) in [
        (json!({ "area_id": "1", "state": 5 }), "state"),
        (json!({ "area_id": "1", "state": 0 }), "state"),
        (json!({ "area_id": "1", "state": "2" }), "state"),
        // A missing state does not clear the area.
        (json!({ "area_id": "1" }), "state"),
        (json!({ "area_id": "x", "state": 1 }), "area_id"),
        (json!({ "area_id": 1.5, "state": 1 }), "area_id"),
        (json!({ "state": 1 }), "area_id"),
        (json!({ "area_id": "1", "geom_id": "x", "state": 1 }), "area_id"),
        (json!({ "area_id": "1", "state": 1, "after": "yesterday" }), "after"),
        (json!({ "area_id": "1", "state": 1, "after": 5 }), "after"),
    ] {
        assert_wrong(json!({ "changes": [change] }), &[&format!("changes.0.{member}")]);
    }
    let many: Vec<_> = (0..1_001).map(|area| json!({ "area_id": area, "state": 1 })).collect();
    for changes in [json!(null), json!([]), json!({}), json!(many)] {
        assert_wrong(json!({ "changes": changes }), &["changes"]);
    }
    let one = json!({ "area_id": "1", "state": 1 });
    assert_wrong(json!({ "changes": [one, one] }), &["changes.1.area_id"]);
    assert_wrong(json!({ "changes": [one], "note": "x".repeat(1_001) }), &["note"]);
    assert_wrong(json!({ "changes": [one], "note": "a\u{0}b" }), &["note"]);
    assert_wrong(json!({ "changes": [one], "preview": "yes", "note": 1 }), &["note", "preview"]);
    let large = siaga.client.post(ADDRESS).header(key(KEY)).body(" ".repeat(2_000_000)).dispatch();
    assert_eq!(large.status(), Status::PayloadTooLarge);
    assert_eq!(states(&siaga).len(), 2);
}

#[test]
fn a_wrong_parameter_of_a_log_is_400_naming_it() {
    let siaga = Siaga::start();
    for (address, key_of_query, expected) in [
        ("log?batch=x", "batch", "must be a whole number from 1"),
        ("log?since=x", "since", "must be a time"),
        ("log?until=x", "until", "must be a time"),
        ("log?before=x", "before", "must be a time"),
        ("log?by=%00", "by", "must be a text"),
        ("5/log?before=x", "before", "must be a time"),
        ("5/log?before=2017-06-07T00:00:00+0700", "before", "encode + as %2B"),
    ] {
        let response = siaga.client.get(format!("/v1/floods/{address}")).header(key(KEY)).dispatch();
        assert_invalid(response, "query", &[key_of_query], expected);
    }
}

#[test]
fn a_long_log_comes_in_pages_of_a_thousand() {
    let siaga = Siaga::start();
    siaga.change_often(10, 1_050);
    for address in ["/v1/floods/10/log", "/v1/floods/log"] {
        let newest = log(&siaga, &format!("{address}?before="));
        assert_eq!(newest.len(), 1_000, "{address}");
        let last = newest[999]["changed_at"].as_str().unwrap();
        let older = log(&siaga, &format!("{address}?before={last}"));
        assert!(older.len() >= 50, "{address}");
        let times: Vec<_> = newest.iter().chain(&older).map(|entry| entry["changed_at"].as_str()).collect();
        assert!(times[..1_050].is_sorted_by(|later, earlier| later > earlier), "{address}: each once");
    }
}
