use std::sync::Arc;
use std::time::Duration;

use rocket::http::Status;
use serde_json::{Value, json};
use siaga::model::Actor;
use siaga::stores::{SetFloodState, Store};

use crate::fixture::{id, now, state};
use crate::suite::support::{KEY, Siaga, assert_invalid, json_of, key};

/// The result of a successful request for a log.
fn log(siaga: &Siaga, address: &str) -> Vec<Value> {
    let response = siaga.client.get(address).header(key(KEY)).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    json_of(response)["result"].as_array().unwrap().clone()
}

#[test]
fn the_log_lists_who_changed_an_area_newest_first() {
    let siaga = Siaga::start();
    siaga.clock.set(now().after(Duration::from_millis(1_234)));
    siaga.put("/v1/floods/10?username=Ibu%20O%27Neil", r#"{"state":4}"#);
    siaga.clock.set(now().after(Duration::from_hours(1)));
    siaga.delete("/v1/floods/10");
    let entries = log(&siaga, "/v1/floods/10/log");
    let expected = [
        json!({ "changed_at": "2016-12-19T17:08:52.000Z", "state": null, "subject": "bpbd", "username": null }),
        json!({
            "changed_at": "2016-12-19T16:08:53.234Z", "state": 4, "subject": "bpbd", "username": "Ibu O'Neil",
        }),
    ];
    assert_eq!(entries, expected);
    assert_eq!(log(&siaga, "/v1/floods/2/log"), [] as [Value; 0], "it never had a state");
}

#[test]
fn a_long_log_comes_in_pages_of_a_thousand() {
    let siaga = Siaga::start();
    let store = Arc::clone(siaga.client.rocket().state::<Arc<dyn Store>>().unwrap());
    siaga.wait(async {
        for number in 0..1_050 {
            let by = Actor { subject: "test".to_owned(), username: None };
            let state = Some(state(1 + number % 4));
            store.set_flood_state(SetFloodState { area: id(10), state, by }).await.unwrap();
        }
    });
    let newest = log(&siaga, "/v1/floods/10/log");
    assert_eq!(newest.len(), 1_000);
    let last = newest.last().unwrap()["changed_at"].as_str().unwrap();
    let older = log(&siaga, &format!("/v1/floods/10/log?before={last}"));
    assert_eq!(older.len(), 50);
    let times: Vec<_> = newest.iter().chain(&older).map(|entry| entry["changed_at"].as_str()).collect();
    assert!(times.is_sorted_by(|later, earlier| later > earlier), "each once, newest first");
}

#[test]
fn no_cache_keeps_the_log() {
    let siaga = Siaga::start();
    let address = "/v1/floods/5/log";
    let response = siaga.client.get(address).header(key(KEY)).dispatch();
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
    let head = siaga.client.head(address).header(key(KEY)).dispatch();
    assert_eq!(head.status(), Status::Ok);
    assert_eq!(siaga.put(address, "{}").status(), Status::MethodNotAllowed);
}

#[test]
fn an_unknown_area_is_404_and_a_wrong_parameter_is_400() {
    let siaga = Siaga::start();
    let get = |address: &'static str| siaga.client.get(address).header(key(KEY)).dispatch();
    let unknown = get("/v1/floods/3/log");
    assert_eq!(unknown.status(), Status::NotFound);
    assert_eq!(json_of(unknown)["message"], "local area 3 does not exist");
    assert_invalid(get("/v1/floods/x/log"), "params", &["localAreaId"], "must be a whole number");
    assert_invalid(get("/v1/floods/5/log?before=x"), "query", &["before"], "must be a time");
    let unescaped = get("/v1/floods/5/log?before=2017-06-07T00:00:00+0700");
    assert_invalid(unescaped, "query", &["before"], "encode + as %2B");
    assert_eq!(get("/v1/floods/5/log?before=").status(), Status::Ok);
}
