//! The key that signs the addresses of uploads, of services that are configured by their store alone.

use image::ImageFormat;
use serde_json::json;

use crate::fixture::block_on;
use crate::kept::Kept;
use crate::photos::picture;
use crate::postgres::Database;
use crate::running::Running;
use crate::store_file::StoreFile;

/// Returns the path of an address for the photo of a new card.
fn invited(server: &Running) -> String {
    let holder = json!({ "username": "u", "network": "n", "language": "id" });
    let card = server.expect_ok("POST", "/v1/cards", &holder)["cardId"].as_str().unwrap().to_owned();
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                         "location": { "lat": 0.5, "lng": 0.5 } });
    server.expect_ok("PUT", &format!("/v1/cards/{card}"), &report);
    let invitation = server.expect_ok("GET", &format!("/v1/cards/{card}/images"), &json!({}));
    let signed = invitation["signedRequest"].as_str().unwrap();
    signed[signed.find("/v1/").unwrap()..].to_owned()
}

/// Makes sure that an address outlives the server that has signed it, unless a key is configured then.
fn outlives(kept: Kept) {
    let photos = tempfile::tempdir().unwrap();
    let photos = format!("file://{}", photos.path().join("photos").display());
    let kept = kept.without("SIAGA_IMAGES__SIGNING_KEY").with("SIAGA_IMAGES__URL", &photos);
    let server = kept.start();
    let address = invited(&server);
    server.kill();
    let upload = |server: Running| {
        server.upload(&address, &picture(64, 48, ImageFormat::Jpeg)).lines().next().unwrap().to_owned()
    };
    let configured = kept.clone().with("SIAGA_IMAGES__SIGNING_KEY", "a key of an operator's own");
    assert_eq!(upload(configured.start()), "HTTP/1.1 403 Forbidden");
    assert_eq!(upload(kept.start()), "HTTP/1.1 200 OK");
}

#[test]
fn an_address_outlives_its_server_on_a_file_that_alone_is_configured() {
    let file = block_on(StoreFile::with_fixture());
    outlives(Kept::in_file(&file.path()));
}

#[test]
fn an_address_outlives_its_server_on_a_database_that_alone_is_configured() {
    let database = block_on(Database::with_fixture());
    outlives(Kept::in_database(&database.url()));
}
