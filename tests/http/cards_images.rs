use std::time::Duration;

use rocket::http::{Header, Method, Status};
use serde_json::json;
use siaga::model::Clock;

use crate::suite::support::{ADMIN_KEY, KEY, Siaga, assert_invalid, figment, json_of, key};

const ADDRESS: &str = "/v1/cards/used-card/images";

#[test]
fn the_answer_is_where_to_send_a_photo_and_where_it_will_be_found() {
    let siaga = Siaga::start();
    let response = siaga.ask(Method::Get, ADDRESS, "");
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
    let answer = json_of(response);
    assert_eq!(answer.as_object().unwrap().len(), 2);
    assert_eq!(answer["url"], "http://localhost/v1/images/used-card.jpg");
    let address = answer["signedRequest"].as_str().unwrap();
    let start = "http://localhost/v1/uploads/used-card.0.jpeg?expires=";
    let (expires, signature) = address.strip_prefix(start).unwrap().split_once("&signature=").unwrap();
    let now = siaga.clock.now().to_utc().timestamp();
    assert_eq!(expires.parse(), Ok(now + 900));
    assert_eq!(signature.len(), 64);
}

#[test]
fn asked_again_before_an_upload_it_names_the_same_object_anew() {
    let siaga = Siaga::start();
    let first = json_of(siaga.ask(Method::Get, ADDRESS, ""));
    siaga.clock.set(siaga.clock.now().after(Duration::from_hours(1)));
    let second = json_of(siaga.ask(Method::Get, ADDRESS, ""));
    assert_ne!(first["signedRequest"], second["signedRequest"]);
    assert_eq!(first["url"], second["url"]);
    let object = |answer: &serde_json::Value| {
        answer["signedRequest"].as_str().unwrap().split_once('?').unwrap().0.to_owned()
    };
    assert_eq!(object(&first), object(&second));
}

#[test]
fn it_is_404_without_the_card_and_409_before_its_report() {
    let siaga = Siaga::start();
    for (id, status, message) in [
        ("unknown", Status::NotFound, "card unknown does not exist"),
        ("fresh-card", Status::Conflict, "card fresh-card has not received its report yet"),
    ] {
        let address = format!("/v1/cards/{id}/images");
        let response = siaga.ask(Method::Get, &address, "");
        assert_eq!(response.status(), status, "{id}");
        let body = json_of(response);
        assert_eq!(
            (&body["statusCode"], &body["cardId"], &body["message"]),
            (&json!(status.code), &json!(id), &json!(message))
        );
    }
    assert_invalid(
        siaga.ask(Method::Get, "/v1/cards/abc/images", ""),
        "params",
        &["cardId"],
        "7 to 14 characters",
    );
}

#[test]
fn a_file_type_is_one_of_four_by_any_of_their_names() {
    let siaga = Siaga::start();
    for (query, extension) in [
        ("", "jpeg"),
        ("?file_type=", "jpeg"),
        ("?file_type=image/jpeg", "jpeg"),
        ("?file_type=image%2Fpng", "png"),
        ("?file_type=image/webp", "webp"),
        ("?file_type=image/gif", "gif"),
        ("?file_type=image/jpg", "jpeg"),
        ("?file_type=image/pjpeg", "jpeg"),
        ("?file_type=image/x-png", "png"),
    ] {
        let answer = json_of(siaga.ask(Method::Get, &format!("{ADDRESS}{query}"), ""));
        let address = answer["signedRequest"].as_str().unwrap();
        assert!(address.contains(&format!("/uploads/used-card.0.{extension}?")), "{query}: {address}");
        assert_eq!(answer["url"], "http://localhost/v1/images/used-card.jpg");
    }
    for query in [
        "?file_type=image/svg%2Bxml",
        "?file_type=jpeg",
        "?file_type=IMAGE/JPEG",
        "?file_type=image/jpeg&file_type=image/jpeg",
    ] {
        let address = format!("{ADDRESS}{query}");
        let response = siaga.ask(Method::Get, &address, "");
        let says = if query.contains('&') {
            "once"
        } else {
            "one of [image/jpeg, image/png, image/webp, image/gif]"
        };
        assert_invalid(response, "query", &["file_type"], says);
    }
}

#[test]
fn the_type_is_file_type_else_the_header_content_type_else_jpeg() {
    let siaga = Siaga::start();
    let ask = |query: &str, header: Option<&'static str>| {
        let request = siaga.client.get(format!("{ADDRESS}{query}")).header(key(ADMIN_KEY));
        let response = match header {
            Some(header) => request.header(Header::new("Content-Type", header)).dispatch(),
            None => request.dispatch(),
        };
        assert_eq!(response.status(), Status::Ok, "{query} {header:?}");
        json_of(response)["signedRequest"].as_str().unwrap().to_owned()
    };
    for (query, header, extension) in [
        ("", Some("image/png"), "png"),
        ("", Some("Image/WebP"), "webp"),
        ("", Some("image/jpg"), "jpeg"),
        ("", Some("image/x-png"), "png"),
        ("?file_type=", Some("image/gif"), "gif"),
        ("?file_type=image/gif", Some("image/png"), "gif"),
        ("?file_type=image/gif", Some("audio/mpeg"), "gif"),
        ("", Some("application/json; charset=utf-8"), "jpeg"),
        ("", None, "jpeg"),
    ] {
        let address = ask(query, header);
        assert!(address.contains(&format!(".{extension}?")), "{query} {header:?}: {address}");
    }
    for wrong in ["audio/mpeg", "image/heic", "png"] {
        let request =
            siaga.client.get(ADDRESS).header(key(ADMIN_KEY)).header(Header::new("Content-Type", wrong));
        assert_invalid(request.dispatch(), "headers", &["Content-Type"], "one of [image/jpeg, image/png, ");
    }
}

#[test]
fn it_needs_a_credential_for_cards() {
    let siaga = Siaga::start();
    assert_eq!(siaga.get(ADDRESS).status(), Status::Forbidden);
    assert_eq!(siaga.client.get(ADDRESS).header(key(KEY)).dispatch().status(), Status::Forbidden);
    for address in [ADDRESS, "/v1/cards/unknown/images"] {
        assert_eq!(siaga.ask(Method::Put, address, "{}").status(), Status::MethodNotAllowed);
    }
}

#[test]
fn the_public_address_is_where_the_configuration_says() {
    let elsewhere = figment().merge(("siaga.images.public_url", "https://images.example.org/cards/"));
    let siaga = Siaga::with(elsewhere, |builder| builder);
    let answer = json_of(siaga.ask(Method::Get, ADDRESS, ""));
    assert_eq!(answer["url"], "https://images.example.org/cards/used-card.jpg");
    assert!(answer["signedRequest"].as_str().unwrap().starts_with("http://localhost/v1/uploads/"));
}
