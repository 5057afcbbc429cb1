use std::time::Duration;

use image::{GenericImageView, ImageFormat};
use rocket::http::{ContentType, Header, Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::form::{newest, shows_its_photo, upload};
use crate::suite::photos::{photo, picture};
use crate::suite::support::{Siaga, figment, json_of, key};

fn upload_address(siaga: &Siaga, query: &str) -> String {
    crate::suite::form::upload_path(siaga.request(
        Method::Get,
        &format!("/v1/cards/used-card/images{query}"),
        "",
    ))
}

fn send<'c>(siaga: &'c Siaga, address: &'c str, kind: &str, body: impl AsRef<[u8]>) -> LocalResponse<'c> {
    let kind = Header::new("Content-Type", kind.to_owned());
    siaga.client.put(address).header(kind).body(body).dispatch()
}

#[test]
fn the_address_of_a_photo_is_the_one_configured_when_the_report_is_read() {
    let siaga = Siaga::start();
    upload(&siaga, &upload_address(&siaga, ""));
    shows_its_photo(&siaga);
    assert_eq!(newest(&siaga)["image_url"], "http://localhost/v1/images/used-card.jpg");
    for (key, value, photo) in [
        ("siaga.base_url", "https://data.example.org/v1", "https://data.example.org/v1/images/used-card.jpg"),
        ("siaga.images.public_url", "https://photos.example.org", "https://photos.example.org/used-card.jpg"),
    ] {
        let other = siaga.another_server(figment().merge((key, value)));
        for target in ["/v1/reports/1", "/v1/reports/1?geoformat=geojson", "/v1/reports?disaster=flood"] {
            let response = other.get(target).dispatch().into_string().unwrap();
            assert!(response.contains(&format!("\"image_url\":\"{photo}\"")), "{target}: {response}");
        }
    }
}

#[test]
fn an_uploaded_photo_is_published_with_the_report_upright_and_at_the_configured_size() {
    let siaga = Siaga::with_setting("siaga.images.max_side", 100);
    let address = upload_address(&siaga, "");
    let response = send(&siaga, &address, "image/jpeg", photo(160, 120, 6));
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(json_of(response), json!({ "statusCode": 200, "received": true }));
    shows_its_photo(&siaga);

    let published = siaga.get("/v1/images/used-card.jpg");
    for (name, value) in [
        ("Content-Type", "image/jpeg"),
        ("Cache-Control", "public, max-age=300"),
        ("X-Content-Type-Options", "nosniff"),
    ] {
        assert_eq!(published.headers().get_one(name), Some(value), "{name}");
    }
    let tag = published.headers().get_one("ETag").unwrap().to_owned();
    let file = published.into_bytes().unwrap();
    let shown = image::load_from_memory_with_format(&file, ImageFormat::Jpeg).unwrap();
    assert_eq!(shown.dimensions(), (75, 100), "turned by a quarter, and its longest side 100");
    let red = |x, y| shown.get_pixel(x, y).0[0] > 200;
    assert!(red(37, 5) && !red(37, 95), "what was left is up");
    assert!(!file.windows(4).any(|part| part == b"Exif" || part == b"6.20"));

    assert!(siaga.is_current("/v1/images/used-card.jpg", &tag));
    assert_eq!(siaga.client.head("/v1/images/used-card.jpg").dispatch().status(), Status::Ok);
}

#[test]
fn a_photo_is_accepted_under_every_name_of_its_requested_type() {
    for (requested, sent, format) in [
        ("image/pjpeg", "Image/PJPEG", ImageFormat::Jpeg),
        ("image/png", "image/x-png", ImageFormat::Png),
        ("image/webp", "image/webp", ImageFormat::WebP),
    ] {
        let siaga = Siaga::start();
        let address = upload_address(&siaga, &format!("?file_type={requested}"));
        let other = if format == ImageFormat::Jpeg { "image/png" } else { "image/jpeg" };
        let refused = send(&siaga, &address, other, photo(4, 3, 1)).status();
        assert_eq!(refused, Status::UnsupportedMediaType, "{requested} {other}");
        let taken = send(&siaga, &address, sent, picture(40, 30, format));
        assert_eq!(taken.status(), Status::Ok, "{requested} {sent}");
        shows_its_photo(&siaga);
    }
}

#[test]
fn an_upload_address_is_accepted_only_by_servers_with_its_signing_key() {
    let siaga = Siaga::start();
    let address = upload_address(&siaga, "");
    let other_key = figment().merge(("siaga.images.signing_key", "another key"));
    for (figment, status) in [(other_key, Status::Forbidden), (figment(), Status::Ok)] {
        let other = siaga.another_server(figment);
        let upload = other.put(address.as_str()).header(ContentType::JPEG).body(photo(4, 3, 1));
        assert_eq!(upload.dispatch().status(), status);
    }
}

#[test]
fn an_altered_expired_or_foreign_upload_address_is_403() {
    let siaga = Siaga::start();
    let address = upload_address(&siaga, "");
    let (path, query) = address.split_once('?').unwrap();
    let (expires, signature) = query.split_once('&').unwrap();
    let flipped = if signature.ends_with('0') { "1" } else { "0" };
    let at: u64 = expires.trim_start_matches("expires=").parse().unwrap();
    for altered in [
        path.to_owned(),
        format!("{path}?{expires}"),
        format!("{path}?{expires}&signature="),
        format!("{path}?expires={}&{signature}", at + 1),
        format!("{path}?{expires}&{expires}&{signature}"),
        format!("{}{flipped}", &address[..address.len() - 1]),
        address.replace("used-card", "fresh-card"),
        address.replace("used-card.0", "used-card.1"),
        address.replace(".jpeg", ".png"),
        format!("/v1/uploads/x?{query}"),
    ] {
        for kind in ["image/jpeg", "text/plain"] {
            let response = send(&siaga, &altered, kind, photo(4, 3, 1));
            assert_eq!(response.status(), Status::Forbidden, "{altered}");
        }
    }
    siaga.pass(Duration::from_secs(899));
    assert_eq!(send(&siaga, &address, "text/plain", "").status(), Status::UnsupportedMediaType);
    siaga.pass(Duration::from_secs(1));
    assert_eq!(send(&siaga, &address, "image/jpeg", photo(4, 3, 1)).status(), Status::Forbidden);
    assert_eq!(newest(&siaga)["image_url"], Value::Null);
}

#[test]
fn an_upload_address_works_once_and_then_no_other_is_issued() {
    let siaga = Siaga::start();
    let (address, another) = (upload_address(&siaga, ""), upload_address(&siaga, "?file_type=image/png"));
    upload(&siaga, &address);
    for _ in 0..2 {
        assert_eq!(send(&siaga, &address, "image/jpeg", photo(4, 3, 1)).status(), Status::Forbidden);
        let png = picture(4, 3, ImageFormat::Png);
        assert_eq!(send(&siaga, &another, "image/png", png).status(), Status::Forbidden);
        let refused = siaga.request(Method::Get, "/v1/cards/used-card/images", "");
        assert_eq!(refused.status(), Status::Conflict);
        shows_its_photo(&siaga);
    }
}

#[test]
fn a_rejected_upload_leaves_its_address_usable() {
    let siaga = Siaga::with_setting("siaga.images.max_bytes", 2_000);
    let address = upload_address(&siaga, "");
    let mut jpeg = photo(4, 3, 1);
    jpeg.resize(2_001, 0);
    for (kind, body, status, text) in [
        ("", &jpeg[..2_000], 415, "image/jpeg"),
        ("image/png", &jpeg[..2_000], 415, "image/jpeg"),
        ("image/jpeg/png", &jpeg[..2_000], 415, "image/jpeg"),
        ("image/jpeg", b"", 415, "image/webp"),
        ("image/jpeg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", 415, "image/webp"),
        ("image/jpeg", b"\xFF\xD8", 415, "image/webp"),
        ("image/jpeg", &jpeg, 413, "at most 2kB"),
    ] {
        let response = send(&siaga, &address, kind, body);
        assert_eq!(response.status().code, status, "{kind}, {} bytes", body.len());
        let message = json_of(response)["message"].to_string();
        assert!(message.contains(text), "{kind}: {message}");
    }
    let put = || siaga.client.put(&*address);
    let jpeg_of =
        |length: &'static str| put().header(ContentType::JPEG).header(Header::new("Content-Length", length));
    let encoded = put().header(ContentType::JPEG).header(Header::new("Content-Encoding", "gzip"));
    for (case, request, expected) in [
        ("without a type", put().body(&jpeg[..2_000]), Status::UnsupportedMediaType),
        ("encoded", encoded.body(&jpeg[..2_000]), Status::UnsupportedMediaType),
        ("too large, before anything is read", jpeg_of("2001"), Status::PayloadTooLarge),
        ("cut", jpeg_of("2000").body(&jpeg[..20]), Status::BadRequest),
    ] {
        assert_eq!(request.dispatch().status(), expected, "{case}");
    }
    assert_eq!(send(&siaga, &address, "image/jpeg; q=1", &jpeg[..2_000]).status(), Status::Ok);
    // Zeros after its end are no fault.
    shows_its_photo(&siaga);
}

#[test]
fn an_upload_that_is_not_a_photo_changes_nothing_and_another_can_be_sent() {
    let siaga = Siaga::start();
    let whole = photo(400, 300, 1);
    for (turn, file) in [&whole[..whole.len() / 2], &whole[..whole.len() / 3]].into_iter().enumerate() {
        let address = upload_address(&siaga, "");
        assert!(address.starts_with(&format!("/v1/uploads/used-card.{turn}.jpeg?")), "{address}");
        assert_eq!(send(&siaga, &address, "image/jpeg", file).status(), Status::Ok);
        let status = || siaga.request(Method::Get, "/v1/cards/used-card/images", "").status();
        eventually_blocking("another address is given", LONG, status, |status| *status == Status::Ok);
        assert_eq!(send(&siaga, &address, "image/jpeg", &whole).status(), Status::Forbidden);
        assert_eq!(newest(&siaga)["image_url"], Value::Null);
    }
    assert_eq!(siaga.get("/v1/images/used-card.jpg").status(), Status::NotFound);
    let more = [&whole[..], b"<script>alert(1)</script>"].concat();
    assert_eq!(send(&siaga, &upload_address(&siaga, ""), "image/jpeg", &more).status(), Status::Ok);
    // What follows a photo is no fault.
    shows_its_photo(&siaga);
}

#[test]
fn a_missing_image_is_404_whatever_its_name() {
    let siaga = Siaga::start();
    for name in ["used-card.jpg", "used-card.png", ".jpg", "..%2Fuploads%2Fused-card.jpg", "%FF%FE.jpg"] {
        let response = siaga.get(&format!("/v1/images/{name}")).status();
        assert_eq!(response, Status::NotFound, "{name}");
    }
    let bad = siaga.client.get("/v1/images/used-card.jpg").header(key("wrong")).dispatch();
    assert_eq!(bad.status(), Status::Forbidden, "a bad credential");
    let body = json_of(siaga.get("/v1/images/used-card.jpg"));
    assert_eq!((&body["statusCode"], &body["message"]), (&json!(404), &json!("this image does not exist")));
}
