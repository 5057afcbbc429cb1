use rocket::http::{Header, Method, Status};

use crate::suite::support::{ADMIN_KEY, Siaga, assert_invalid, json_of, key};

const ADDRESS: &str = "/v1/cards/used-card/images";

#[test]
fn the_response_has_the_upload_and_the_public_address_of_a_photo() {
    let siaga = Siaga::start();
    let response = siaga.request(Method::Get, ADDRESS, "");
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
    let body = json_of(response);
    assert_eq!(body.as_object().unwrap().len(), 2);
    assert_eq!(body["url"], "http://localhost/v1/images/used-card.jpg");
    let address = body["signedRequest"].as_str().unwrap();
    let start = "http://localhost/v1/uploads/used-card.0.jpeg?expires=";
    let (expires, signature) = address.strip_prefix(start).unwrap().split_once("&signature=").unwrap();
    let now = siaga.now().to_utc().timestamp();
    assert_eq!(expires.parse(), Ok(now + 900));
    assert_eq!(signature.len(), 64);
}

#[test]
fn the_type_is_file_type_else_the_header_content_type_else_jpeg() {
    let siaga = Siaga::start();
    let fetch = |query: &str, header: Option<&'static str>| {
        let mut request = siaga.client.get(format!("{ADDRESS}{query}")).header(key(ADMIN_KEY));
        if let Some(header) = header {
            request.add_header(Header::new("Content-Type", header));
        }
        request.dispatch()
    };
    for (query, header, extension) in [
        ("", Some("image/png"), "png"),
        ("?file_type=", Some("image/gif"), "gif"),
        ("?file_type=image/gif", Some("audio/mpeg"), "gif"),
        ("?file_type=image%2Fpng", None, "png"),
        ("?file_type=image/pjpeg", None, "jpeg"),
        ("", None, "jpeg"),
    ] {
        let response = json_of(fetch(query, header));
        let address = response["signedRequest"].as_str().unwrap();
        assert!(address.contains(&format!("used-card.0.{extension}?")), "{query} {header:?}: {address}");
    }
    let expected = "one of [image/jpeg, image/png, image/webp, image/gif]";
    assert_invalid(fetch("?file_type=image/svg%2Bxml", None), "query", &["file_type"], expected);
    assert_invalid(fetch("?file_type=image/gif&file_type=image/gif", None), "query", &["file_type"], "once");
    assert_invalid(fetch("", Some("audio/mpeg")), "headers", &["Content-Type"], expected);
}

#[test]
fn the_public_address_is_configurable() {
    let siaga = Siaga::with_setting("siaga.images.public_url", "https://images.example.org/cards/");
    let response = json_of(siaga.request(Method::Get, ADDRESS, ""));
    assert_eq!(response["url"], "https://images.example.org/cards/used-card.jpg");
    assert!(response["signedRequest"].as_str().unwrap().starts_with("http://localhost/v1/uploads/"));
}
