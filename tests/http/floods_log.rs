//! Setting and clearing one area, and its log.

use std::time::Duration;

use rocket::http::Status;
use serde_json::{Value, json};

use crate::fixture::now;
use crate::suite::support::{KEY, Siaga, assert_invalid, json_of, key};

pub(crate) fn log(siaga: &Siaga, address: &str) -> Vec<Value> {
    let response = siaga.client.get(address).header(key(KEY)).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    json_of(response)["result"].as_array().unwrap().clone()
}

#[test]
fn the_log_has_who_set_and_cleared_a_state_newest_first() {
    let siaga = Siaga::start();
    siaga.clock.set(now().saturating_add(Duration::from_millis(1_234)));
    let set = siaga.put("/v1/floods/10?username=Ibu%20O%27Neil%20%22x%22", r#"{"state":4}"#);
    assert_eq!(set.status(), Status::Ok);
    assert_eq!(set.into_string().unwrap(), r#"{"localAreaId":10,"state":4,"updated":true}"#);
    let at = "2016-12-19T16:08:53.234Z";
    assert_eq!(
        siaga.result("/v1/floods/states?minimum_state=4"),
        json!([{ "area_id": "10", "state": 4, "last_updated": at, "flooded_since": at, "confirmed": at }])
    );
    siaga.clock.set(now().saturating_add(Duration::from_hours(1)));
    for _ in 0..2 {
        let cleared = siaga.delete("/v1/floods/10");
        assert_eq!(cleared.status(), Status::Ok, "twice is the same as once");
        assert_eq!(cleared.into_string().unwrap(), r#"{"localAreaId":10,"state":null,"updated":true}"#);
        assert_eq!(siaga.result("/v1/floods/states?minimum_state=4"), json!([]));
    }
    let archive = "/v1/floods/archive?start=2016-12-19T17:00:00Z&end=2016-12-19T18:00:00Z&city=jbd";
    let archived = siaga.result(archive);
    let highest = archived.as_array().unwrap().iter().find(|state| state["area_id"] == "10").unwrap();
    assert_eq!(highest["max_state"], 4, "the history keeps what was cleared");
    let cleared = |at: &str| json!({ "changed_at": at, "state": null, "subject": "bpbd", "username": null });
    let expected = [
        cleared("2016-12-19T17:08:52.001Z"),
        cleared("2016-12-19T17:08:52.000Z"),
        json!({ "changed_at": at, "state": 4, "subject": "bpbd", "username": "Ibu O'Neil \"x\"" }),
    ];
    assert_eq!(log(&siaga, "/v1/floods/10/log"), expected);
    assert_eq!(log(&siaga, "/v1/floods/2/log"), [] as [Value; 0], "it never had a state");
}

#[test]
fn the_log_is_not_cacheable() {
    let siaga = Siaga::start();
    let address = "/v1/floods/5/log";
    let response = siaga.client.get(address).header(key(KEY)).dispatch();
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
}

#[test]
fn an_unknown_area_is_404_and_a_wrong_id_is_400() {
    let siaga = Siaga::start();
    for unknown in ["3", "9223372036854775807"] {
        let address = format!("/v1/floods/{unknown}");
        let log = siaga.client.get(format!("{address}/log")).header(key(KEY)).dispatch();
        for response in [siaga.put(&address, r#"{"state":2}"#), siaga.delete(&address), log] {
            assert_eq!(response.status(), Status::NotFound, "{address}");
            assert_eq!(json_of(response)["message"], format!("local area {unknown} does not exist"));
        }
    }
    for wrong in ["x", "-5", "+5", "5.0", "99999999999999999999", "%00"] {
        let address = format!("/v1/floods/{wrong}");
        let log = siaga.client.get(format!("{address}/log")).header(key(KEY)).dispatch();
        for response in [siaga.put(&address, r#"{"state":2}"#), siaga.delete(&address), log] {
            assert_invalid(response, "params", &["localAreaId"], "must be a whole number");
        }
    }
}
