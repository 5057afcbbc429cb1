//! The key that signs the addresses of uploads, of services that are configured by their store alone.

use std::io::{Read, Write};
use std::net::TcpStream;

use image::ImageFormat;
use serde_json::{Value, json};

use crate::crashes::{ask, keys};
use crate::fixture::block_on;
use crate::photos::picture;
use crate::postgres::Database;
use crate::running::{Running, request};
use crate::store_file::StoreFile;

/// The last line that is printed at startup.
const LAST: &str = "floodedRWsSummary";

fn answer(server: &Running, method: &str, target: &str, body: &Value) -> Value {
    let (status, answer) = ask(&server.authority, method, target, body).unwrap();
    assert_eq!(status, 200, "{target}: {answer}");
    answer
}

/// Returns the path of an address for the photo of a new card.
fn invited(server: &Running) -> String {
    let holder = json!({ "username": "u", "network": "n", "language": "id" });
    let card = answer(server, "POST", "/v1/cards", &holder)["cardId"].as_str().unwrap().to_owned();
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                         "location": { "lat": 0.5, "lng": 0.5 } });
    answer(server, "PUT", &format!("/v1/cards/{card}"), &report);
    let invitation = answer(server, "GET", &format!("/v1/cards/{card}/images"), &json!({}));
    let signed = invitation["signedRequest"].as_str().unwrap();
    signed[signed.find("/v1/").unwrap()..].to_owned()
}

/// Returns the first line of the response to a photo.
fn upload(server: &Running, target: &str) -> String {
    let photo = picture(64, 48, ImageFormat::Jpeg);
    let head = format!("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", photo.len());
    let mut connection = TcpStream::connect(&server.authority).unwrap();
    connection.write_all(request(&server.authority, "PUT", target, &head).as_bytes()).unwrap();
    connection.write_all(&photo).unwrap();
    let mut sent = String::new();
    connection.read_to_string(&mut sent).unwrap();
    sent.lines().next().unwrap().to_owned()
}

/// Makes sure that an address outlives the server that has signed it, unless a key is configured then.
fn outlives(store: &[(&str, &str)]) {
    let photos = tempfile::tempdir().unwrap();
    let photos = format!("file://{}", photos.path().join("photos").display());
    let keys = keys();
    let others =
        [("SIAGA_AUTH__API_KEYS", &*keys), ("SIAGA_IMAGES__URL", &photos), ("ROCKET_LOG_LEVEL", "critical")];
    let variables = [store, &others].concat();
    let server = Running::start(&variables, LAST);
    let address = invited(&server);
    server.kill();
    let configured =
        [&variables[..], &[("SIAGA_IMAGES__SIGNING_KEY", "a key of an operator's own")]].concat();
    let server = Running::start(&configured, LAST);
    assert_eq!(upload(&server, &address), "HTTP/1.1 403 Forbidden");
    server.kill();
    let server = Running::start(&variables, LAST);
    assert_eq!(upload(&server, &address), "HTTP/1.1 200 OK");
}

#[test]
fn an_address_outlives_its_server_on_a_file_that_alone_is_configured() {
    let file = block_on(StoreFile::with_fixture());
    outlives(&[("SIAGA_STORE", "file"), ("SIAGA_FILE__PATH", file.path().to_str().unwrap())]);
}

#[test]
fn an_address_outlives_its_server_on_a_database_that_alone_is_configured() {
    let database = block_on(Database::with_fixture());
    outlives(&[("SIAGA_STORE", "postgres"), ("DATABASE_URL", &database.url())]);
}
