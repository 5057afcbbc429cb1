use std::collections::HashMap;
use std::time::Duration;

use image::{GenericImageView, ImageFormat};
use rocket::http::{ContentType, Header, Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::photos::{photo, picture};
use crate::suite::support::{Siaga, figment, json_of, properties};

/// The path and query of the address a photo of a card can be sent to.
fn invited(siaga: &Siaga, query: &str) -> String {
    let answer = json_of(siaga.ask(Method::Get, &format!("/v1/cards/used-card/images{query}"), ""));
    let address = answer["signedRequest"].as_str().unwrap_or_else(|| panic!("{answer}"));
    address.strip_prefix("http://localhost").unwrap().to_owned()
}

fn send<'c>(siaga: &'c Siaga, address: &'c str, kind: &str, body: impl AsRef<[u8]>) -> LocalResponse<'c> {
    let kind = Header::new("Content-Type", kind.to_owned());
    siaga.client.put(address).header(kind).body(body).dispatch()
}

/// Waits until the report shows its photo.
fn shows_its_photo(siaga: &Siaga) {
    eventually_blocking("the photo is shown", LONG, || image_url(siaga), |url| !url.is_null());
}

/// Waits until the photo is served.
fn serves_its_photo(siaga: &Siaga) {
    let status = || siaga.get("/v1/images/used-card.jpg").status();
    eventually_blocking("the photo is served", LONG, status, |status| *status == Status::Ok);
}

fn image_url(siaga: &Siaga) -> Value {
    properties(&siaga.result("/v1/reports/1"))[0]["image_url"].clone()
}

#[test]
fn the_address_of_a_photo_is_the_one_configured_when_the_report_is_read() {
    let siaga = Siaga::start();
    assert_eq!(send(&siaga, &invited(&siaga, ""), "image/jpeg", photo(40, 30, 1)).status(), Status::Ok);
    shows_its_photo(&siaga);
    assert_eq!(image_url(&siaga), "http://localhost/v1/images/used-card.jpg");
    for (key, value, photo) in [
        ("siaga.base_url", "https://data.example.org/v1", "https://data.example.org/v1/images/used-card.jpg"),
        ("siaga.images.public_url", "https://photos.example.org", "https://photos.example.org/used-card.jpg"),
    ] {
        let other = siaga.beside(figment().merge((key, value)));
        for target in ["/v1/reports/1", "/v1/reports/1?geoformat=geojson", "/v1/reports?disaster=flood"] {
            let response = other.get(target).dispatch().into_string().unwrap();
            assert!(response.contains(&format!("\"image_url\":\"{photo}\"")), "{target}: {response}");
        }
    }
}

/// A service whose uploads may be of 2,000 bytes at most.
fn modest() -> Siaga {
    Siaga::with_setting("siaga.images.max_bytes", 2_000)
}

#[test]
fn a_photo_that_is_sent_is_shown_by_the_report_small_and_upright() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    let sent = photo(1600, 1200, 6);
    let answer = send(&siaga, &address, "image/jpeg", &sent);
    assert_eq!(answer.status(), Status::Ok);
    assert_eq!(answer.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(json_of(answer), json!({ "statusCode": 200, "received": true }));
    shows_its_photo(&siaga);
    assert_eq!(image_url(&siaga), "http://localhost/v1/images/used-card.jpg");

    let published = siaga.get("/v1/images/used-card.jpg");
    assert_eq!(published.status(), Status::Ok);
    let headers = published.headers().clone().into_iter();
    let headers: HashMap<String, String> =
        headers.map(|header| (header.name.to_string(), header.value.into_owned())).collect();
    let header = |name: &str| headers.get(name).map(String::as_str);
    assert_eq!(header("Content-Type"), Some("image/jpeg"));
    assert_eq!(header("Cache-Control"), Some("public, max-age=300"));
    assert_eq!(header("X-Content-Type-Options"), Some("nosniff"));
    let file = published.into_bytes().unwrap();
    let shown = image::load_from_memory_with_format(&file, ImageFormat::Jpeg).unwrap();
    assert_eq!(shown.dimensions(), (960, 1280), "turned by a quarter, and its longest side 1280");
    let red = |x, y| shown.get_pixel(x, y).0[0] > 200;
    assert!(red(480, 20) && !red(480, 1260), "what was left is up");
    assert!(!file.windows(4).any(|part| part == b"Exif" || part == b"6.20"));

    let tag = Header::new("If-None-Match", header("ETag").unwrap().to_owned());
    let known = siaga.client.get("/v1/images/used-card.jpg").header(tag).dispatch();
    assert_eq!((known.status(), known.into_bytes()), (Status::NotModified, None));
    let head = siaga.client.head("/v1/images/used-card.jpg").dispatch();
    assert_eq!(head.status(), Status::Ok);
}

#[test]
fn a_photo_is_taken_as_the_type_it_was_asked_for_as_by_any_of_its_names() {
    for (asked, sent, format) in [
        ("image/jpeg", "image/jpg", ImageFormat::Jpeg),
        ("image/pjpeg", "Image/PJPEG", ImageFormat::Jpeg),
        ("image/png", "image/x-png", ImageFormat::Png),
        ("image/webp", "image/webp", ImageFormat::WebP),
        ("image/gif", "image/gif", ImageFormat::Gif),
    ] {
        let siaga = Siaga::start();
        let address = invited(&siaga, &format!("?file_type={asked}"));
        let other = if format == ImageFormat::Jpeg { "image/png" } else { "image/jpeg" };
        let refused = send(&siaga, &address, other, photo(4, 3, 1)).status();
        assert_eq!(refused, Status::UnsupportedMediaType, "{asked} {other}");
        let taken = send(&siaga, &address, sent, picture(40, 30, format)).status();
        assert_eq!(taken, Status::Ok, "{asked} {sent}");
        serves_its_photo(&siaga);
    }
}

#[test]
fn an_address_is_accepted_by_every_server_with_its_signing_key_and_by_no_other() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    let other_key = figment().merge(("siaga.images.signing_key", "another key"));
    for (figment, status) in [(other_key, Status::Forbidden), (figment(), Status::Ok)] {
        let other = siaga.beside(figment);
        let upload = other.put(address.as_str()).header(ContentType::JPEG).body(photo(4, 3, 1));
        assert_eq!(upload.dispatch().status(), status);
    }
}

#[test]
fn an_address_that_is_altered_expired_or_foreign_is_403() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    let other = Siaga::with_setting("siaga.images.signing_key", "another key");
    let (path, query) = address.split_once('?').unwrap();
    let (expires, signature) = query.split_once('&').unwrap();
    let flipped = if signature.ends_with('0') { "1" } else { "0" };
    let expires_in = |seconds: i64| {
        let at: i64 = expires.trim_start_matches("expires=").parse().unwrap();
        format!("expires={}", at + seconds)
    };
    for altered in [
        path.to_owned(),
        format!("{path}?{expires}"),
        format!("{path}?{signature}"),
        format!("{path}?{expires}&signature="),
        format!("{path}?{}&{signature}", expires_in(1)),
        format!("{path}?{}&{signature}", expires_in(100_000)),
        format!("{path}?{expires}&{expires}&{signature}"),
        format!("{path}?{expires}&{signature}&{signature}"),
        format!("{}{flipped}", &address[..address.len() - 1]),
        address.replace("used-card", "fresh-card"),
        address.replace("used-card.0", "used-card.1"),
        address.replace(".jpeg", ".png"),
        address.replace("used-card", "..%2Fused-card"),
        address.replace("/used-card", "/..%2F..%2Fetc"),
        format!("/v1/uploads/x?{query}"),
        invited(&other, ""),
    ] {
        for kind in ["image/jpeg", "text/plain"] {
            let answer = send(&siaga, &altered, kind, photo(4, 3, 1));
            assert_eq!(answer.status(), Status::Forbidden, "{altered}");
            let body = json_of(answer);
            assert_eq!((&body["statusCode"], &body["error"]), (&json!(403), &json!("Forbidden")));
        }
    }
    siaga.pass(Duration::from_secs(899));
    assert_eq!(send(&siaga, &address, "text/plain", "").status(), Status::UnsupportedMediaType);
    siaga.pass(Duration::from_secs(1));
    assert_eq!(send(&siaga, &address, "image/jpeg", photo(4, 3, 1)).status(), Status::Forbidden);
    assert_eq!(image_url(&siaga), Value::Null);
}

#[test]
fn an_address_is_used_once_and_then_no_other_is_given() {
    let siaga = Siaga::start();
    let (address, another) = (invited(&siaga, ""), invited(&siaga, "?file_type=image/png"));
    assert_eq!(send(&siaga, &address, "image/jpeg", photo(40, 30, 1)).status(), Status::Ok);
    for _ in 0..2 {
        assert_eq!(send(&siaga, &address, "image/jpeg", photo(4, 3, 1)).status(), Status::Forbidden);
        let png = picture(4, 3, ImageFormat::Png);
        assert_eq!(send(&siaga, &another, "image/png", png).status(), Status::Forbidden);
        let refused = siaga.ask(Method::Get, "/v1/cards/used-card/images", "");
        assert_eq!(refused.status(), Status::Conflict);
        shows_its_photo(&siaga);
    }
}

#[test]
fn a_wrong_or_missing_content_type_is_415() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    for kind in
        ["", "image/png", "text/html", "application/octet-stream", "image", "rubbish", "image/jpeg/png"]
    {
        let answer = send(&siaga, &address, kind, photo(4, 3, 1));
        assert_eq!(answer.status(), Status::UnsupportedMediaType, "{kind}");
        assert!(json_of(answer)["message"].as_str().unwrap().contains("image/jpeg"));
    }
    let none = siaga.client.put(&address).body(photo(4, 3, 1)).dispatch();
    assert_eq!(none.status(), Status::UnsupportedMediaType);
    let encoded =
        siaga.client.put(&address).header(ContentType::JPEG).header(Header::new("Content-Encoding", "gzip"));
    assert_eq!(encoded.body(photo(4, 3, 1)).dispatch().status(), Status::UnsupportedMediaType);
    assert_eq!(send(&siaga, &address, "image/jpeg; q=1", photo(4, 3, 1)).status(), Status::Ok);
}

#[test]
fn what_does_not_begin_like_an_image_is_415_and_the_address_can_be_used_again() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    for body in [
        &b""[..],
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        b"<html>",
        b"PK\x03\x04",
        b"%PDF-1.7",
        b"\xFF\xD8",
    ] {
        let answer = send(&siaga, &address, "image/jpeg", body);
        assert_eq!(answer.status(), Status::UnsupportedMediaType);
        assert!(json_of(answer)["message"].as_str().unwrap().contains("image/webp"));
    }
    assert_eq!(send(&siaga, &address, "image/jpeg", photo(4, 3, 1)).status(), Status::Ok);
}

#[test]
fn an_upload_that_ends_before_its_announced_length_is_not_received_and_the_address_can_be_used_again() {
    let siaga = Siaga::start();
    let address = invited(&siaga, "");
    let file = photo(40, 30, 1);
    let length = Header::new("Content-Length", file.len().to_string());
    let cut = siaga.client.put(&*address).header(Header::new("Content-Type", "image/jpeg")).header(length);
    assert_eq!(cut.body(&file[..20]).dispatch().status(), Status::BadRequest);
    assert_eq!(send(&siaga, &address, "image/jpeg", file).status(), Status::Ok);
}

#[test]
fn an_upload_that_is_too_large_is_413_and_the_address_can_be_used_again() {
    let siaga = modest();
    let address = invited(&siaga, "");
    let mut file = photo(4, 3, 1);
    file.resize(2_001, 0);
    let announced =
        siaga.client.put(&address).header(ContentType::JPEG).header(Header::new("Content-Length", "2001"));
    let answer = announced.dispatch();
    assert_eq!(answer.status(), Status::PayloadTooLarge, "before anything of it was read");
    assert!(json_of(answer)["message"].as_str().unwrap().contains("at most 2kB"));
    assert_eq!(send(&siaga, &address, "image/jpeg", &file).status(), Status::PayloadTooLarge);
    assert_eq!(send(&siaga, &address, "image/jpeg", &file[..2_000]).status(), Status::Ok);
    // Zeros after its end are no fault.
    shows_its_photo(&siaga);
}

#[test]
fn an_upload_that_is_no_photo_leaves_the_report_alone_and_another_can_be_sent() {
    let siaga = Siaga::start();
    let whole = photo(400, 300, 1);
    for (turn, file) in [&whole[..whole.len() / 2], &whole[..whole.len() / 3]].into_iter().enumerate() {
        let address = invited(&siaga, "");
        assert!(address.starts_with(&format!("/v1/uploads/used-card.{turn}.jpeg?")), "{address}");
        assert_eq!(send(&siaga, &address, "image/jpeg", file).status(), Status::Ok);
        let status = || siaga.ask(Method::Get, "/v1/cards/used-card/images", "").status();
        eventually_blocking("another address is given", LONG, status, |status| *status == Status::Ok);
        assert_eq!(send(&siaga, &address, "image/jpeg", &whole).status(), Status::Forbidden);
        assert_eq!(image_url(&siaga), Value::Null);
    }
    assert_eq!(siaga.get("/v1/images/used-card.jpg").status(), Status::NotFound);
    let more = [&whole[..], b"<script>alert(1)</script>"].concat();
    assert_eq!(send(&siaga, &invited(&siaga, ""), "image/jpeg", &more).status(), Status::Ok);
    // What follows a photo is no fault.
    shows_its_photo(&siaga);
}

#[test]
fn the_longest_side_of_a_photo_is_configured() {
    let siaga = Siaga::with_setting("siaga.images.max_side", 100);
    assert_eq!(send(&siaga, &invited(&siaga, ""), "image/jpeg", photo(160, 120, 1)).status(), Status::Ok);
    serves_its_photo(&siaga);
    let file = siaga.get("/v1/images/used-card.jpg").into_bytes().unwrap();
    assert_eq!(image::load_from_memory(&file).unwrap().dimensions(), (100, 75));
}
