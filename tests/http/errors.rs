use crate::support::{KEY, Siaga, json_of, key};
use rocket::http::{Method, Status};

#[test]
fn an_unknown_route_is_404_in_json() {
    let siaga = Siaga::start();
    for address in ["/v1", "/v2/floods", "/v1/flood", "/v1/floods/5/6", "/floods"] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::NotFound, "{address}");
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/json"));
        let body = response.into_string().unwrap();
        assert_eq!(
            body,
            r#"{"statusCode":404,"error":"Not Found","message":"this resource does not exist"}"#
        );
    }
}

#[test]
fn a_wrong_method_is_405_with_the_methods_there_are() {
    let siaga = Siaga::start();
    for (method, address, allow) in [
        (Method::Post, "/v1/floods", "GET, HEAD, OPTIONS"),
        (Method::Put, "/v1/floods", "GET, HEAD, OPTIONS"),
        (Method::Delete, "/v1/floods/states", "GET, HEAD, OPTIONS"),
        (Method::Put, "/v1/floods/states", "GET, HEAD, OPTIONS"),
        (Method::Patch, "/v1/floods/archive/", "GET, HEAD, OPTIONS"),
        (Method::Post, "/v1/floods/5", "PUT, DELETE, OPTIONS"),
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

#[test]
fn a_form_that_names_another_method_is_still_a_post() {
    let siaga = Siaga::start();
    for (address, method) in
        [("/v1/floods/states", "get"), ("/v1/floods/5", "DELETE"), ("/v1/floods/5", "put")]
    {
        let request = siaga.client.post(address).header(rocket::http::ContentType::Form).header(key(KEY));
        let response = request.body(format!("_method={method}")).dispatch();
        assert_eq!(response.status(), Status::MethodNotAllowed, "{address} {method}");
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
fn errors_are_never_kept_by_caches() {
    let siaga = Siaga::start();
    for address in ["/v1/nothing", "/v1/floods?city=x", "/v1/floods/archive"] {
        let response = siaga.get(address);
        assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"), "{address}");
        assert_eq!(response.headers().get_one("ETag"), None);
    }
}

#[test]
fn every_answer_has_a_request_id_of_its_own() {
    let siaga = Siaga::start();
    let ids: Vec<String> = ["/v1/floods", "/v1/floods?city=x", "/nothing", "/v1/floods"]
        .iter()
        .map(|address| siaga.get(address).headers().get_one("X-Request-Id").unwrap().to_owned())
        .collect();
    assert!(ids.iter().all(|id| id.len() == 16));
    assert_ne!(ids[0], ids[3]);
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
