use proptest::prelude::*;
use rocket::http::{ContentType, Method, Status};
use serde_json::json;

use crate::suite::support::{KEY, Siaga, json_of, key};

#[test]
fn an_unknown_route_is_404_in_json() {
    let siaga = Siaga::start();
    for address in ["/v2/floods", "/v1/flood", "/v1/floods/5/6", "/floods"] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::NotFound, "{address}");
        assert_eq!(siaga.client.options(address).dispatch().status(), Status::NotFound, "{address}");
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/json"));
        let body = json_of(response);
        assert_eq!((&body["statusCode"], &body["error"]), (&json!(404), &json!("Not Found")));
    }
}

#[test]
fn a_wrong_method_is_405_with_the_allowed_methods() {
    let siaga = Siaga::start();
    for (method, address, allow) in [
        (Method::Post, "/v1/floods", "GET, HEAD, OPTIONS"),
        (Method::Put, "/v1/floods/states", "GET, HEAD, OPTIONS"),
        (Method::Patch, "/v1/floods/archive/", "GET, HEAD, OPTIONS"),
        (Method::Get, "/v1/floods/5", "PUT, DELETE, OPTIONS"),
        (Method::Head, "/v1/floods/5", "PUT, DELETE, OPTIONS"),
        (Method::Trace, "/v1/floods/5", "PUT, DELETE, OPTIONS"),
    ] {
        let response = siaga.client.req(method, address).dispatch();
        assert_eq!(response.status(), Status::MethodNotAllowed, "{method} {address}");
        assert_eq!(response.headers().get_one("Allow"), Some(allow), "{method} {address}");
        if method != Method::Head {
            assert_eq!(json_of(response)["statusCode"], 405);
        }
    }
}

/// Forms with a `_method` in each way Rocket accepts, and near misses.
fn forms() -> impl Strategy<Value = String> {
    const PARTS: [&str; 13] =
        ["&", "_method", "_METHOD", "=", "GET", "head", "PUT", "DELETE", ".", "[", "]", "%5F", "é"];
    let methods = prop::sample::select(&["GET", "get", "HEAD", "Put", "DELETE", "OPTIONS"][..]);
    prop_oneof![
        prop::collection::vec(prop::sample::select(&PARTS[..]), 0..8).prop_map(|parts| parts.concat()),
        ("&{0,4}", r"(\.|\[x?\]?|)", methods, "(&.{0,3}|)")
            .prop_map(|(start, key, method, rest)| format!("{start}_method{key}={method}{rest}")),
    ]
}

#[test]
fn a_form_that_names_another_method_is_still_a_post() {
    let siaga = Siaga::start();
    proptest!(ProptestConfig::with_cases(1_000), |(form in forms())| {
        for address in ["/v1/floods/states", "/v1/floods/5"] {
            let request = siaga.client.post(address).header(ContentType::Form).header(key(KEY));
            let status = request.body(&form).dispatch().status();
            prop_assert_eq!(status, Status::MethodNotAllowed, "{} {}", address, &form);
        }
    });
}

#[test]
fn a_form_does_not_change_a_method_that_is_no_post() {
    let siaga = Siaga::start();
    for form in ["_method=DELETE", "&_method=GET"] {
        let request = siaga.client.put("/v1/floods/5").header(ContentType::Form).header(key(KEY));
        let response = request.body(form).dispatch();
        assert_eq!(response.status(), Status::BadRequest, "{form} is no JSON, and the method is PUT");
    }
}

#[test]
fn head_works_wherever_get_does() {
    let siaga = Siaga::start();
    for address in ["/v1/floods", "/v1/floods/states", "/v1/floods?geoformat=cap", "/v1/floods?city=x"] {
        let get = siaga.get(address);
        let head = siaga.client.head(address).dispatch();
        assert_eq!(head.status(), get.status(), "{address}");
        for name in ["Content-Type", "ETag", "Cache-Control"] {
            assert_eq!(head.headers().get_one(name), get.headers().get_one(name), "{address} {name}");
        }
        assert_eq!(head.into_string().unwrap_or_default(), "");
    }
}

#[test]
fn the_members_of_an_error_come_in_the_documented_order() {
    let body = Siaga::start().get("/v1/floods?city=x").into_string().unwrap();
    let expected = concat!(
        r#"{"statusCode":400,"error":"Bad Request","message":"\"city\" must be one of [bdg, jbd, sby]","#,
        r#""validation":{"source":"query","keys":["city"]}}"#
    );
    assert_eq!(body, expected);
}
