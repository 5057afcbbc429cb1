use std::time::Duration;

use rocket::http::{ContentType, Header, Status};
use serde_json::json;
use siaga::model::Actor;
use siaga::stores::Store;

use crate::fixture::{self, id};
use crate::suite::support::{KEY, Siaga, assert_invalid, json_of, key};

fn newest_actor(siaga: &Siaga, area: u64) -> Actor {
    let store = siaga.client.rocket().state::<std::sync::Arc<dyn Store>>().unwrap();
    siaga.wait(store.flood_log(id(area))).unwrap().pop().unwrap().by
}

#[test]
fn a_state_is_set_and_answered_without_an_envelope() {
    let siaga = Siaga::start();
    siaga.clock.set(fixture::now().after(Duration::from_millis(1_234)));
    let response = siaga.put("/v1/floods/10", r#"{"state":4}"#);
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.into_string().unwrap(), r#"{"localAreaId":10,"state":4,"updated":true}"#);
    assert_eq!(
        siaga.result("/v1/floods/states?minimum_state=4"),
        json!([{
            "area_id": "10", "state": 4, "last_updated": "2016-12-19T16:08:53.234Z",
            "flooded_since": "2016-12-19T16:08:53.234Z", "confirmed": "2016-12-19T16:08:53.234Z",
        }])
    );
}

#[test]
fn a_state_may_be_a_text_of_its_digit() {
    let siaga = Siaga::start();
    let answer = json_of(siaga.put("/v1/floods/1", r#"{"state":"3"}"#));
    assert_eq!(answer, json!({ "localAreaId": 1, "state": 3, "updated": true }));
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 3);
}

#[test]
fn every_state_from_1_to_4_is_accepted_whatever_stood_before() {
    let siaga = Siaga::start();
    for state in [1, 4, 4, 2, 3, 1] {
        let answer = json_of(siaga.put("/v1/floods/1", json!({ "state": state }).to_string()));
        assert_eq!(answer, json!({ "localAreaId": 1, "state": state, "updated": true }));
        assert_eq!(siaga.result("/v1/floods/states")[0]["state"], state);
    }
}

#[test]
fn anything_but_a_number_from_1_to_4_is_400_naming_state() {
    let siaga = Siaga::start();
    for state in [
        json!(0),
        json!(5),
        json!(-1),
        json!(2.5),
        json!(""),
        json!("5"),
        json!("02"),
        json!("2.0"),
        json!(" 2"),
        json!(null),
        json!(true),
        json!([2]),
        json!({ "a": 2 }),
        json!(1e300),
        json!(18_446_744_073_709_551_615_u64),
    ] {
        let response = siaga.put("/v1/floods/5", json!({ "state": state }).to_string());
        assert_invalid(response, "body", &["state"], "must be one of [1, 2, 3, 4]");
    }
    assert_invalid(siaga.put("/v1/floods/5", "{}"), "body", &["state"], "must be one of");
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 2, "nothing changed");
}

#[test]
fn a_body_that_is_no_json_object_is_400() {
    let siaga = Siaga::start();
    let nested = "[".repeat(100) + &"]".repeat(100);
    let deeper = "[".repeat(10_000);
    for body in [
        "",
        "{",
        "null",
        "true",
        "1",
        "\"x\"",
        "[]",
        "[{\"state\":2}]",
        "{'state':2}",
        "state=2",
        "{\"state\":2}x",
        "\u{feff}\u{feff}{\"state\":2}",
        "{\"state\":NaN}",
        nested.as_str(),
        deeper.as_str(),
    ] {
        assert_invalid(siaga.put("/v1/floods/5", body), "body", &[], "the body must be");
    }
    assert_invalid(
        siaga.put("/v1/floods/5", b"{\"state\":2,\"\xff\":1}"),
        "body",
        &[],
        "the body must be JSON",
    );
}

#[test]
fn a_body_is_read_as_json_with_the_content_types_clients_send() {
    let siaga = Siaga::start();
    let put = |kind: Option<&str>| {
        let mut request = siaga.client.put("/v1/floods/5").header(key(KEY)).body(r#"{"state":2}"#);
        if let Some(kind) = kind {
            request.add_header(Header::new("Content-Type", kind.to_owned()));
        }
        request.dispatch().status()
    };
    for kind in [
        None,
        Some("application/json"),
        Some("application/json; charset=utf-8"),
        Some("application/x-www-form-urlencoded"),
        Some("APPLICATION/JSON"),
    ] {
        assert_eq!(put(kind), Status::Ok, "{kind:?}");
    }
    let several =
        siaga.client.put("/v1/floods/5").header(key(KEY)).header(ContentType::JSON).header(ContentType::JSON);
    assert_eq!(several.body(r#"{"state":2}"#).dispatch().status(), Status::UnsupportedMediaType);
    let packed =
        siaga.client.put("/v1/floods/5").header(key(KEY)).header(Header::new("Content-Encoding", "gzip"));
    assert_eq!(packed.body(r#"{"state":2}"#).dispatch().status(), Status::UnsupportedMediaType);
    for kind in ["text/plain", "application/xml", "multipart/form-data; boundary=x", "image/jpeg", "rubbish"]
    {
        assert_eq!(put(Some(kind)), Status::UnsupportedMediaType, "{kind}");
    }
}

#[test]
fn a_body_beyond_the_limit_is_413() {
    let siaga = Siaga::with_setting("siaga.limits.body", "1KiB");
    let body = |length: usize| format!("{{\"state\":2,\"pad\":\"{}\"}}", "x".repeat(length - 21));
    assert_eq!(body(1024).len(), 1024 - 1);
    assert_eq!(siaga.put("/v1/floods/5", body(1024)).status(), Status::Ok);
    let response = siaga.put("/v1/floods/5", body(1026));
    assert_eq!(response.status(), Status::PayloadTooLarge);
    assert_eq!(json_of(response)["statusCode"], 413);
}

#[test]
fn an_unknown_area_is_404_and_a_wrong_id_is_400() {
    let siaga = Siaga::start();
    for unknown in ["3", "0", "9223372036854775807"] {
        let address = format!("/v1/floods/{unknown}");
        let response = siaga.put(&address, r#"{"state":2}"#);
        assert_eq!(response.status(), Status::NotFound);
        assert_eq!(json_of(response)["message"], format!("local area {unknown} does not exist"));
    }
    for wrong in ["x", "-5", "5.0", "+5", "5a", "99999999999999999999", "%00", "%F0%9F%8C%8A", "5%20"] {
        let address = format!("/v1/floods/{wrong}");
        assert_invalid(
            siaga.put(&address, r#"{"state":2}"#),
            "params",
            &["localAreaId"],
            "must be a whole number",
        );
    }
}

#[test]
fn the_log_says_whose_credential_it_was_and_who_the_caller_says_it_is() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/5", r#"{"state":1}"#);
    assert_eq!(newest_actor(&siaga, 5), Actor { subject: "bpbd".to_owned(), username: None });
    siaga.put("/v1/floods/5?username=Ibu%20O%27Neil%20%22x%22", r#"{"state":1}"#);
    let username = Some("Ibu O'Neil \"x\"".to_owned());
    assert_eq!(newest_actor(&siaga, 5), Actor { subject: "bpbd".to_owned(), username });
    for wrong in ["a%00b", "a%0Ab", &"x".repeat(256), "%FF"] {
        let address = format!("/v1/floods/5?username={wrong}");
        let response = siaga.put(&address, r#"{"state":1}"#);
        assert_eq!(json_of(response)["validation"], json!({ "source": "query", "keys": ["username"] }));
    }
}

#[test]
fn a_later_field_of_the_same_name_counts_and_others_are_ignored() {
    let siaga = Siaga::start();
    let body = r#"{"state":1,"other":[{"deep":1}],"state":3}"#;
    assert_eq!(json_of(siaga.put("/v1/floods/5", body))["state"], 3);
}
