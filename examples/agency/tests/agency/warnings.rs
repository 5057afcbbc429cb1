use agency::warnings::Bulletin;
use rocket::http::{Header, Status};
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::encoded;

use crate::support::service;

format_suite!(Bulletin);

#[test]
fn the_areas_at_state_3_or_4_are_listed() {
    let client = service();
    let response = client.get("/v1/warnings").dispatch();
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Content-Type"), Some("text/plain; charset=utf-8"));
    let text = response.into_string().unwrap();
    assert_eq!(text, "Flooded areas: 1\nModerate: RW 30, BANDUNG, since 2016-12-13 15:00 WIB\n");
}

#[test]
fn the_filters_of_the_flood_map_apply() {
    let client = service();
    let text = client.get("/v1/warnings?city=jbd").dispatch().into_string().unwrap();
    assert_eq!(text, "Flooded areas: 0\n");
    assert_eq!(client.get("/v1/warnings?city=x").dispatch().status(), Status::BadRequest);
    assert_eq!(client.put("/v1/warnings").dispatch().status(), Status::MethodNotAllowed);
}

#[test]
fn a_client_with_the_current_response_gets_304() {
    let client = service();
    let response = client.get("/v1/warnings").dispatch();
    let tag = response.headers().get_one("ETag").unwrap().to_owned();
    let again = client.get("/v1/warnings").header(Header::new("If-None-Match", tag)).dispatch();
    assert_eq!(again.status(), Status::NotModified);
}

#[test]
fn a_line_has_the_known_names_of_the_place() {
    let bulletin = String::from_utf8(encoded(&Bulletin, &fixture::layer(&[(5, 2), (10, 4)]))).unwrap();
    let lines = [
        "Flooded areas: 2",
        "Minor: RW 09, GROGOL, JAKARTA BARAT, since 2016-12-19 22:08 WIB",
        "Severe: PULAU, JAKARTA BARAT, since 2016-12-19 22:08 WIB",
    ];
    assert_eq!(bulletin.lines().collect::<Vec<_>>(), lines);
}
