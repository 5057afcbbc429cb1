//! Uploads to the storage, up to the published image.

use std::sync::Arc;

use image::ImageFormat;
use object_store::{Attribute, AttributeValue, Error};
use rocket::futures::future::join_all;
use rocket::tokio;
use serde_json::json;
use siaga::model::{Actor, AreaLimit, Moderation, ModerationAction};
use siaga::stores::Resource;

use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::photos::photo;
use crate::service::{self, IMAGE, Siaga};
use crate::storage::Storage;

#[rocket::async_test]
async fn a_photo_uploaded_to_the_storage_is_published_with_the_report_and_served() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    let (status, response) = siaga.request_upload("").await;
    assert_eq!((status, &response["url"]), (200, &json!(IMAGE)));
    let address = response["signedRequest"].as_str().unwrap();
    assert_eq!(siaga.send(address, "image/jpeg", photo(1600, 1200, 6)).await, 200);
    siaga.shows_an_image().await;
    assert_eq!(siaga.image_url().await, IMAGE);

    let served = siaga.get("/v1/images/used-card.jpg").await;
    assert_eq!(served.headers().get_one("Content-Type"), Some("image/jpeg"));
    let served = served.into_bytes().await.unwrap();
    let shown = image::load_from_memory_with_format(&served, ImageFormat::Jpeg).unwrap();
    assert_eq!((shown.width(), shown.height()), (960, 1280), "turned by a quarter");

    let object = storage.object("prefix/used-card.jpg").await.unwrap();
    let noted = |attribute| object.attributes.get(&attribute).map(AttributeValue::as_ref);
    assert_eq!(noted(Attribute::ContentType), Some("image/jpeg"));
    assert_eq!(noted(Attribute::CacheControl), Some("public, max-age=300"));
    assert_eq!(object.bytes().await.unwrap(), served);
    eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
    assert_eq!(siaga.request_upload("").await.0, 409);
}

#[rocket::async_test]
async fn the_service_itself_accepts_no_upload() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    let address = siaga.upload_address("").await;
    let (_, query) = address.split_once('?').unwrap();
    for query in [query, "expires=99999999999&signature=00"] {
        let upload = siaga.client.put(format!("/v1/uploads/used-card.0.jpeg?{query}"));
        let upload = upload.header(rocket::http::ContentType::JPEG).body(photo(40, 30, 1));
        assert_eq!(upload.dispatch().await.status().code, 403);
    }
    assert!(storage.uploads().is_empty());
}

#[rocket::async_test]
async fn the_photo_and_upload_of_an_erased_report_are_deleted_without_a_list_of_the_storage() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    let address = siaga.upload_address("").await;
    assert_eq!(siaga.send(&address, "image/jpeg", photo(40, 30, 1)).await, 200);
    siaga.shows_an_image().await;
    eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
    assert_eq!(siaga.send(&address, "image/jpeg", photo(40, 30, 1)).await, 200, "it is sent again");
    assert_eq!(storage.uploads(), ["used-card"]);
    storage.refuse_lists();
    let moderation = Moderation {
        report: 1.try_into().unwrap(),
        made_at: None,
        action: ModerationAction::Erase,
        by: Actor { subject: "moderators".to_owned(), username: None },
        limit: AreaLimit::Everywhere,
        reason: "its author asks".to_owned(),
    };
    assert!(siaga.store.moderate(&moderation).await.unwrap());
    eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
    assert!(matches!(storage.object("prefix/used-card.jpg").await, Err(Error::NotFound { .. })));
}

#[test]
fn exactly_one_image_of_50_concurrent_uploads_for_a_card_is_published() {
    block_on(async {
        let storage = Storage::start().await;
        let store = service::store();
        let siaga = Arc::new(Siaga::on(store.clone(), storage.figment()).await);
        let address = siaga.upload_address("").await;
        let before = siaga.store.revision(Resource::Reports).await.unwrap();
        let start = Arc::new(tokio::sync::Barrier::new(50));
        let all = (1..=50).map(|width| {
            let (siaga, start, address) = (Arc::clone(&siaga), Arc::clone(&start), address.clone());
            tokio::spawn(async move {
                start.wait().await;
                let sending = siaga.send(&address, "image/jpeg", photo(width, 10, 1));
                let (sent, (requested, response)) = tokio::join!(sending, siaga.request_upload(""));
                assert_eq!(sent, 200);
                assert!([200, 409].contains(&requested), "{response}");
            })
        });
        for done in join_all(all).await {
            done.unwrap();
        }
        siaga.shows_an_image().await;
        let shown = siaga.image().await;
        assert!(shown.height() == 10 && (1..=50).contains(&shown.width()));
        assert_eq!(siaga.image_url().await, IMAGE);
        let after = siaga.store.revision(Resource::Reports).await.unwrap();
        assert_eq!(after.0, before.0 + 1, "the report has changed once");

        assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 10, 1)).await, 200);
        Arc::into_inner(siaga).unwrap().end().await;
        let next = Siaga::on(store, storage.figment()).await;
        next.publish_another().await;
        assert_eq!(next.image().await, shown, "what came later is left alone");
    });
}
