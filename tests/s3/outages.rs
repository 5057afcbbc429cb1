//! Outages of the storage or a server.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::eventually::patiently;
use crate::photos::photo;
use crate::service::{self, Siaga};
use crate::storage::{Storage, figment};

/// Asserts that a published image is 503 within the timeout.
async fn assert_away(siaga: &Siaga) {
    let start = Instant::now();
    let response = siaga.get("/v1/images/used-card.jpg").await;
    assert!(start.elapsed() < patiently(Duration::from_secs(3)), "{:?}", start.elapsed());
    assert_eq!(response.status().code, 503);
    let wait: u64 = response.headers().get_one("Retry-After").unwrap().parse().unwrap();
    assert!(wait > 0);
}

#[rocket::async_test]
async fn an_upload_is_processed_once_an_unreachable_storage_is_back() {
    let mut storage = Storage::start().await;
    storage.stop().await;
    let siaga = Siaga::start(storage.figment()).await;
    // Signing needs no network.
    let address = siaga.upload_address("").await;
    assert_away(&siaga).await;
    storage.come_back().await;
    assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 30, 1)).await, 200);
    storage.stop().await;
    assert_away(&siaga).await;
    assert_eq!(siaga.get("/v1/reports/1").await.status().code, 200, "the rest goes on");
    storage.come_back().await;
    siaga.shows_an_image().await;
    assert_eq!(siaga.image().await.width(), 60);
}

#[rocket::async_test]
async fn a_hanging_storage_is_given_up_after_the_configured_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let siaga = Siaga::start(figment(silent.local_addr().unwrap())).await;
    siaga.upload_address("").await;
    assert_away(&siaga).await;
}

#[rocket::async_test]
async fn an_upload_sent_while_no_server_runs_is_found_at_the_next_startup() {
    let storage = Storage::start().await;
    let store = service::store();
    let first = Siaga::on(store.clone(), storage.figment()).await;
    let address = first.upload_address("").await;
    let http = first.http.clone();
    first.end().await;

    let sent = http.put(address).header("Content-Type", "image/jpeg").body(photo(60, 30, 1)).send().await;
    assert_eq!(sent.unwrap().status().as_u16(), 200);
    assert_eq!(storage.uploads(), ["used-card"], "nobody has taken it");

    let second = Siaga::on(store, storage.figment()).await;
    second.shows_an_image().await;
    assert_eq!(second.image().await.width(), 60);
}
