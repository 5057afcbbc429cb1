//! Uploads to signed addresses: slow ones, too many, and after a restart.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use image::ImageFormat;
use serde_json::{Value, json};

use crate::eventually::{LONG, eventually_blocking};
use crate::fixture::block_on;
use crate::photos::{photo, picture};
use crate::postgres::Database;
use crate::running::{Running, request, upload_path};
use crate::service_config::ServiceConfig;
use crate::store_file::StoreFile;

/// The path and query of an upload address for a card of the demo.
fn upload_address(service: &Running, card: &str) -> String {
    upload_path(
        &service.request_json(service.key(), "GET", &format!("/v1/cards/{card}/images"), &Value::Null).1,
    )
}

fn head(service: &Running, address: &str, length: usize) -> String {
    let rest = format!("Content-Type: image/jpeg\r\nContent-Length: {length}\r\n\r\n");
    request(&service.authority, "PUT", address, &rest)
}

/// Begins an upload.
fn begin_upload(service: &Running, address: &str) -> TcpStream {
    service.begin(&head(service, address, 1_000_000), &photo(40, 30, 1))
}

/// The response to an upload of something else than an image, so that the address stays usable.
fn try_upload(service: &Running, address: &str) -> String {
    let body = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    service.send(&(head(service, address, body.len()) + body))
}

/// Waits until an upload address is accepted.
fn await_accepted(service: &Running, address: &str) {
    let response = || try_upload(service, address);
    eventually_blocking("415", LONG, response, |response| response.starts_with("HTTP/1.1 415 "));
}

/// Begins uploads and tries an address until it is rejected with a status. Returns the uploads, and the response in lower case.
///
/// Each poll begins new uploads: a try that reaches the service first takes the slot of one, which is then rejected.
fn refused<const N: usize>(
    service: &Running,
    begun: [&str; N],
    tried_address: &str,
    status: u16,
) -> ([TcpStream; N], String) {
    let begins = format!("HTTP/1.1 {status} ");
    let look = || (begun.map(|address| begin_upload(service, address)), try_upload(service, tried_address));
    let (uploads, response) =
        eventually_blocking(&begins, LONG, look, |(_, response)| response.starts_with(&begins));
    (uploads, response.to_ascii_lowercase())
}

#[test]
fn a_third_unfinished_upload_to_one_address_is_429_until_another_ends() {
    let service = Running::demo(&[]);
    let address = upload_address(&service, "demo-001");
    let ([first, second], refused) = refused(&service, [&address; 2], &address, 429);
    assert!(refused.contains("\r\nretry-after: ") && refused.contains("in progress"), "{refused}");
    drop(first);
    await_accepted(&service, &address);
    drop(second);
    let file = picture(40, 30, ImageFormat::Jpeg);
    let response = service.upload(&address, &file);
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

#[test]
fn uploads_beyond_the_limit_of_a_server_are_503_until_one_ends() {
    let service = Running::demo(&[("SIAGA_IMAGES__MAX_UPLOADS", "1")]);
    let (one, other) = (upload_address(&service, "demo-001"), upload_address(&service, "demo-003"));
    let ([first], refused) = refused(&service, [&one], &other, 503);
    assert!(refused.contains("\r\nretry-after: "), "{refused}");
    drop(first);
    await_accepted(&service, &other);
    assert!(service.errors().contains("siaga.images.max_uploads"), "{}", service.errors());
}

#[test]
fn an_upload_that_only_drips_is_408_although_it_never_pauses() {
    let service = Running::demo(&[("SIAGA_LIMITS__TIMEOUT", "1s")]);
    let mut connection = begin_upload(&service, &upload_address(&service, "demo-001"));
    let mut dripping = connection.try_clone().unwrap();
    // More than a kilobyte a second, for no longer than the test waits for the response.
    let drip = thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(15) && dripping.write_all(&[0; 32]).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut response = [0; 512];
    let read = connection.read(&mut response).expect("a response while the upload goes on");
    let response = String::from_utf8_lossy(&response[..read]);
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    drop(connection);
    drip.join().unwrap();
}

#[test]
fn an_upload_at_the_required_rate_arrives_however_long_it_takes() {
    let service = Running::demo(&[("SIAGA_LIMITS__TIMEOUT", "500ms")]);
    let address = upload_address(&service, "demo-001");
    let mut file = picture(40, 30, ImageFormat::Jpeg);
    // Trailing zeros are accepted.
    file.resize(60_000, 0);
    let mut connection = service.begin(&head(&service, &address, file.len()), &[]);
    // 40 KB a second, three times as long as the service waits for a piece.
    for piece in file.chunks(2_000) {
        connection.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(50));
    }
    let mut response = String::new();
    connection.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

fn new_upload_address(server: &Running) -> String {
    let holder = json!({ "username": "u", "network": "n", "language": "id" });
    let card = server.expect_ok("POST", "/v1/cards", &holder)["cardId"].as_str().unwrap().to_owned();
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                         "location": { "lat": 0.5, "lng": 0.5 } });
    server.expect_ok("PUT", &format!("/v1/cards/{card}"), &report);
    let invitation = server.expect_ok("GET", &format!("/v1/cards/{card}/images"), &json!({}));
    upload_path(&invitation)
}

#[test]
fn upload_addresses_survive_a_restart_with_the_derived_key_unless_a_key_is_configured_then() {
    let (file, database) = (block_on(StoreFile::with_fixture()), block_on(Database::with_fixture()));
    outlives(ServiceConfig::in_file(&file.path()));
    outlives(ServiceConfig::in_database(&database.url()));
}

fn outlives(config: ServiceConfig) {
    let photos = tempfile::tempdir().unwrap();
    let photos = format!("file://{}", photos.path().join("photos").display());
    let config = config.without("SIAGA_IMAGES__SIGNING_KEY").with("SIAGA_IMAGES__URL", &photos);
    let server = config.start();
    let address = new_upload_address(&server);
    server.kill();
    let upload = |server: Running| {
        server.upload(&address, &picture(64, 48, ImageFormat::Jpeg)).lines().next().unwrap().to_owned()
    };
    let configured = config.clone().with("SIAGA_IMAGES__SIGNING_KEY", "a key of an operator's own");
    assert_eq!(upload(configured.start()), "HTTP/1.1 403 Forbidden");
    assert_eq!(upload(config.start()), "HTTP/1.1 200 OK");
}
