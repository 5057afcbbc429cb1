//! Validation of requests that set a state.

use rocket::http::{Header, Status};
use serde_json::json;

use crate::suite::support::{KEY, Siaga, assert_invalid, json_of, key};

const ADDRESS: &str = "/v1/floods/5";
const BODY: &str = r#"{"state":2}"#;

#[test]
fn a_state_from_1_to_4_as_number_or_string_is_accepted_and_the_last_one_counts() {
    let siaga = Siaga::start();
    for (body, state) in [
        (r#"{"state":1}"#, 1),
        (r#"{"state":4}"#, 4),
        (r#"{"state":4}"#, 4),
        (r#"{"state":2}"#, 2),
        (r#"{"state":"3"}"#, 3),
        (r#"{"state":1,"other":[{"deep":1}],"state":3}"#, 3),
    ] {
        let response = json_of(siaga.put(ADDRESS, body));
        assert_eq!(response, json!({ "localAreaId": 5, "state": state, "updated": true }), "{body}");
        assert_eq!(siaga.result("/v1/floods/states")[0]["state"], state, "{body}");
    }
}

#[test]
fn any_other_state_is_400_and_changes_nothing() {
    let siaga = Siaga::start();
    for state in ["0", "5", "-1", "2.5", "1e300", "\"\"", "\"5\"", "\"02\"", "\" 2\"", "null", "true", "[2]"]
    {
        let response = siaga.put(ADDRESS, format!("{{\"state\":{state}}}"));
        assert_invalid(response, "body", &["state"], "must be one of [1, 2, 3, 4]");
    }
    assert_invalid(siaga.put(ADDRESS, "{}"), "body", &["state"], "must be one of");
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 2);
}

#[test]
fn a_body_that_is_not_a_json_object_is_400() {
    let siaga = Siaga::start();
    let [nested, deeper] = [100, 10_000].map(|levels| "[".repeat(levels) + &"]".repeat(levels));
    for body in ["", "{", "null", "[{\"state\":2}]", "state=2", "{\"state\":2}x", &nested, &deeper] {
        assert_invalid(siaga.put(ADDRESS, body), "body", &[], "the body must be");
    }
    let response = siaga.put(ADDRESS, b"{\"state\":2,\"\xff\":1}");
    assert_invalid(response, "body", &[], "the body must be JSON");
}

#[test]
fn a_body_is_read_as_json_with_the_content_types_clients_send() {
    let siaga = Siaga::start();
    let (kind, ok, unsupported) = ("Content-Type", Status::Ok, Status::UnsupportedMediaType);
    for (headers, expected) in [
        (&[][..], ok),
        (&[(kind, "application/json")], ok),
        (&[(kind, "APPLICATION/JSON; charset=utf-8")], ok),
        (&[(kind, "application/x-www-form-urlencoded")], ok),
        (&[(kind, "application/json"), (kind, "application/json")], unsupported),
        (&[("Content-Encoding", "gzip")], unsupported),
        (&[(kind, "text/plain")], unsupported),
        (&[(kind, "multipart/form-data; boundary=x")], unsupported),
        (&[(kind, "rubbish")], unsupported),
    ] {
        let mut request = siaga.client.put(ADDRESS).header(key(KEY)).body(BODY);
        for (name, value) in headers {
            request.add_header(Header::new(*name, *value));
        }
        assert_eq!(request.dispatch().status(), expected, "{headers:?}");
    }
}

#[test]
fn a_body_beyond_the_limit_is_413() {
    let siaga = Siaga::with_setting("siaga.limits.body", "1KiB");
    let body = |length: usize| format!("{{\"state\":2,\"pad\":\"{}\"}}", "x".repeat(length - 20));
    assert_eq!(body(1024).len(), 1024);
    assert_eq!(siaga.put(ADDRESS, body(1024)).status(), Status::Ok);
    let response = siaga.put(ADDRESS, body(1025));
    assert_eq!(response.status(), Status::PayloadTooLarge);
    assert_eq!(json_of(response)["statusCode"], 413);
}

#[test]
fn a_wrong_username_is_400() {
    let siaga = Siaga::start();
    for wrong in ["a%00b", "a%0Ab", &"x".repeat(256), "%FF"] {
        let response = json_of(siaga.put(&format!("{ADDRESS}?username={wrong}"), BODY));
        assert_eq!(response["validation"], json!({ "source": "query", "keys": ["username"] }), "{wrong}");
    }
}
