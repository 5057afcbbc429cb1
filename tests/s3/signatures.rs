//! A signed upload address permits a single request.

use reqwest::Method;
use serde_json::Value;

use crate::photos::photo;
use crate::service::Siaga;
use crate::storage::Storage;

#[rocket::async_test]
async fn an_upload_address_is_valid_for_15_minutes_and_an_altered_or_foreign_one_is_rejected() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    let address = siaga.upload_address("").await;
    let (path, query) = address.split_once('?').unwrap();
    let flipped = if address.ends_with('0') { "1" } else { "0" };
    for altered in [
        path.to_owned(),
        format!("{}{flipped}", &address[..address.len() - 1]),
        address.replace("X-Amz-Expires=900&", "X-Amz-Expires=90000&"),
        address.replace("X-Amz-SignedHeaders=content-type%3Bhost", "X-Amz-SignedHeaders=host"),
        address.replace("/uploads/used-card", "/uploads/fresh-card"),
        address.replace("/uploads/used-card", "/used-card.jpg"),
        format!("{}?{query}", path.replace("prefix", "other")),
    ] {
        assert_ne!(altered, address);
        let status = siaga.send(&altered, "image/jpeg", photo(40, 30, 1)).await;
        assert!([400, 403].contains(&status), "{status}: {altered}");
    }
    for method in [Method::GET, Method::DELETE] {
        let request = siaga.http.request(method.clone(), &address).header("Content-Type", "image/jpeg");
        assert_eq!(request.send().await.unwrap().status().as_u16(), 403, "{method}");
    }
    assert!(storage.uploads().is_empty());
    assert_eq!(siaga.image_url().await, Value::Null);
}

#[rocket::async_test]
async fn an_upload_address_is_signed_for_its_type_and_another_type_is_rejected() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    let (_, response) = siaga.request_upload("?file_type=image/x-png").await;
    assert_eq!(response["contentType"], "image/png");
    let address = response["signedRequest"].as_str().unwrap();
    for kind in ["image/jpeg", "image/x-png", "text/html", ""] {
        assert_eq!(siaga.send(address, kind, photo(40, 30, 1)).await, 403, "{kind}");
    }
    let without = siaga.http.put(address).body(photo(40, 30, 1));
    assert_eq!(without.send().await.unwrap().status().as_u16(), 403);
    assert!(storage.uploads().is_empty());
    assert_eq!(siaga.send(address, "image/png", photo(40, 30, 1)).await, 200);
    siaga.shows_an_image().await;
}
