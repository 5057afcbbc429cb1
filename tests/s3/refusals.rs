//! Uploads to the storage that are not photos.

use std::time::Duration;

use figment::providers::Serialized;
use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use rocket::tokio::time;
use serde_json::Value;

use crate::eventually::{LONG, eventually};
use crate::photos::photo;
use crate::service::Siaga;
use crate::storage::Storage;

#[rocket::async_test]
async fn an_upload_that_is_not_a_photo_is_emptied_and_a_photo_at_the_same_address_is_accepted() {
    let whole = photo(400, 300, 1);
    let mut large = photo(40, 30, 1);
    large.resize(20_001, 0);
    let storage = Storage::start().await;
    let limit = Serialized::default("siaga.images.max_bytes", 20_000);
    let siaga = Siaga::start(storage.figment().merge(limit)).await;
    let address = siaga.upload_address("").await;
    for (name, upload) in [
        ("too large", large),
        ("an SVG", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec()),
        ("truncated", whole[..whole.len() / 2].to_vec()),
        ("empty", Vec::new()),
    ] {
        assert_eq!(siaga.send(&address, "image/jpeg", upload).await, 200, "{name}");
        assert_eq!(storage.uploads(), ["used-card"], "{name}");
        let emptied = format!("what is {name} is emptied");
        eventually(&emptied, LONG, async || storage.size_of("used-card"), |size| *size == 0).await;
        // Another upload address is issued.
        siaga.until_status(200).await;
        assert_eq!(siaga.image_url().await, Value::Null, "{name}");
        assert_eq!(siaga.get("/v1/images/used-card.jpg").await.status().code, 404, "{name}");
    }
    assert_eq!(siaga.send(&address, "image/jpeg", whole).await, 200);
    siaga.shows_an_image().await;
    assert_eq!(siaga.image().await.dimensions(), (400, 300));
}

#[rocket::async_test]
async fn a_photo_sent_while_an_earlier_upload_is_processed_is_not_deleted_with_it() {
    // A truncated photo of noise, which takes a while to reject.
    let noise = RgbImage::from_fn(2000, 1500, |x, y| {
        let [red, green, blue, _] = (x * y).wrapping_mul(2_654_435_761).rotate_left(x % 32).to_le_bytes();
        [red, green, blue].into()
    });
    let mut file = Vec::new();
    JpegEncoder::new(&mut file).encode_image(&noise).unwrap();
    file.truncate(file.len() - 10_000);
    for wait in [0, 20, 50, 100, 200] {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = siaga.upload_address("").await;
        assert_eq!(siaga.send(&address, "image/jpeg", file.clone()).await, 200);
        siaga.until_status(409).await;
        // The next upload arrives at different moments while this one is processed.
        time::sleep(Duration::from_millis(wait)).await;
        assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 30, 1)).await, 200);
        siaga.shows_an_image().await;
        assert_eq!(siaga.image().await.dimensions(), (60, 30));
    }
}
