//! `PUT /reports/:id/visibility`: moderators hide reports and show them again.

use std::time::Duration;

use rocket::http::{Method, Status};
use rocket::local::blocking::Client;
use serde_json::{Value, json};
use siaga::stores::{ModerationQuery, Store};

use crate::suite::eventually::eventually_blocking;
use crate::suite::support::{ADMIN_KEY, Siaga, assert_invalid, each, figment, json_of, key};

const HIDE: &str = r#"{"hidden":true,"reason":"shows a person's name"}"#;
const SHOW: &str = r#"{"hidden":false,"reason":"it was a mistake"}"#;

fn set(siaga: &Siaga, report: u64, body: &str) -> Value {
    let address = format!("/v1/reports/{report}/visibility");
    let response = siaga.request(Method::Put, &address, body);
    assert_eq!(response.status(), Status::Ok);
    json_of(response)
}

fn listed(client: &Client, address: &str) -> Vec<Value> {
    each(&json_of(client.get(address.to_owned()).dispatch())["result"], "pkey")
}

#[test]
fn a_hidden_report_is_in_no_response_until_it_is_shown_again() {
    let siaga = Siaga::start();
    let addresses = [
        "/v1/reports",
        "/v1/reports?geoformat=geojson",
        "/v1/reports/archive?start=2016-12-19T15:00:00Z&end=2016-12-19T17:00:00Z",
        "/v1/reports/timeseries?start=2016-12-19T15:00:00Z&end=2016-12-19T17:00:00Z",
        "/v1/stats/reportsSummary",
        "/v1/reports/7",
    ];
    let all = || addresses.map(|address| siaga.get(address).into_string().unwrap());
    let before = all();
    assert_eq!(set(&siaga, 7, HIDE), json!({ "report_id": "7", "hidden": true, "updated": true }));
    let hidden = all();
    for (address, (before, hidden)) in addresses.iter().zip(before.iter().zip(&hidden)) {
        assert_ne!(before, hidden, "{address}");
    }
    assert_eq!(listed(&siaga.client, "/v1/reports"), ["1", "6", "2", "5"]);
    assert_eq!(siaga.result("/v1/stats/reportsSummary")["total number of reports"], 4);
    assert_eq!(siaga.get("/v1/reports/7").status(), Status::NotFound);
    assert_eq!(set(&siaga, 7, HIDE)["updated"], false);
    assert_eq!(set(&siaga, 7, SHOW), json!({ "report_id": "7", "hidden": false, "updated": true }));
    assert_eq!(all(), before);
}

#[test]
fn another_server_on_the_same_store_hides_the_report_within_a_second() {
    let siaga = Siaga::start();
    let other = siaga.another_server(figment());
    assert_eq!(listed(&other, "/v1/reports"), ["1", "7", "6", "2", "5"]);
    set(&siaga, 1, HIDE);
    let seen = || listed(&other, "/v1/reports").len();
    eventually_blocking("the report has left the list", Duration::from_secs(1), seen, |seen| *seen == 4);
    assert_eq!(other.get("/v1/reports/1").dispatch().status(), Status::NotFound);
}

#[test]
fn the_log_has_the_credential_and_its_user() {
    let siaga = Siaga::start();
    siaga.request(Method::Put, "/v1/reports/7/visibility?username=Ibu%20Ani", HIDE);
    let store = siaga.client.rocket().state::<std::sync::Arc<dyn Store>>().unwrap();
    let query = ModerationQuery { after: 0, before: None, most: 10 };
    let log = siaga.wait(store.moderation_log(query)).unwrap().value;
    let by: Vec<_> = log.iter().map(|entry| (&*entry.by.subject, entry.by.username.as_deref())).collect();
    assert_eq!(by, [("root", Some("Ibu Ani"))]);
    assert_eq!(log[0].reason, "shows a person's name");
}

#[test]
fn an_invalid_body_is_400_and_an_unknown_report_404() {
    let siaga = Siaga::start();
    let put = |report: &str, body: &str| {
        let address = format!("/v1/reports/{report}/visibility");
        siaga.client.put(address).header(key(ADMIN_KEY)).body(body).dispatch()
    };
    assert_invalid(put("7", "{}"), "body", &["hidden", "reason"], "is required");
    let hidden = put("7", r#"{"hidden":"true","reason":"x"}"#);
    assert_invalid(hidden, "body", &["hidden"], "must be true or false");
    for reason in [json!(""), json!(5), json!("a\nb"), json!("x".repeat(256))] {
        let body = json!({ "hidden": true, "reason": reason }).to_string();
        assert_invalid(put("7", &body), "body", &["reason"], "must be a text of 1 to 255 characters");
    }
    assert_invalid(put("x", HIDE), "params", &["id"], "must be a whole number");
    assert_eq!(put("99", HIDE).status(), Status::NotFound);
    assert_eq!(siaga.get("/v1/reports/7").status(), Status::Ok, "nothing changed");
}
