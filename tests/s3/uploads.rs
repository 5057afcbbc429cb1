//! From the address that the storage signed to the image in the report.

use image::ImageFormat;
use object_store::{Attribute, AttributeValue, Error};
use serde_json::{Value, json};
use siaga::model::{Actor, Moderation, ModerationAction};

use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::photos::{photo, picture};
use crate::service::{IMAGE, Siaga};
use crate::storage::Storage;

#[test]
fn a_photo_sent_to_the_storage_is_shown_by_the_report_and_served() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let (status, answer) = siaga.ask("").await;
        assert_eq!((status, &answer["url"]), (200, &json!(IMAGE)));
        let address = answer["signedRequest"].as_str().unwrap();
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
        assert_eq!(siaga.ask("").await.0, 409);
    });
}

#[test]
fn by_another_name_the_address_is_signed_for_the_media_type_that_the_response_names() {
    for (asked, signed, format) in
        [("image/jpg", "image/jpeg", ImageFormat::Jpeg), ("image/x-png", "image/png", ImageFormat::Png)]
    {
        block_on(async {
            let storage = Storage::start().await;
            let siaga = Siaga::start(storage.figment()).await;
            let (_, answer) = siaga.ask(&format!("?file_type={asked}")).await;
            assert_eq!(answer["contentType"], signed);
            let address = answer["signedRequest"].as_str().unwrap();
            assert_eq!(siaga.send(address, signed, picture(40, 30, format)).await, 200, "{asked}");
            siaga.shows_an_image().await;
        });
    }
}

#[test]
fn the_service_itself_takes_no_upload() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = siaga.invited("").await;
        let (_, query) = address.split_once('?').unwrap();
        for target in [
            "/v1/uploads/used-card".to_owned(),
            format!("/v1/uploads/used-card?{query}"),
            "/v1/uploads/used-card.0.jpeg?expires=99999999999&signature=00".to_owned(),
        ] {
            let upload = siaga.client.put(target).header(rocket::http::ContentType::JPEG);
            let answer = upload.body(photo(40, 30, 1)).dispatch().await;
            assert_eq!(answer.status().code, 403);
            assert_eq!(answer.into_json::<Value>().await.unwrap()["error"], "Forbidden");
        }
        assert!(storage.uploads().is_empty());
    });
}

#[test]
fn the_photo_and_upload_of_an_erased_report_are_deleted_without_a_list_of_the_storage() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = siaga.invited("").await;
        assert_eq!(siaga.send(&address, "image/jpeg", photo(40, 30, 1)).await, 200);
        siaga.shows_an_image().await;
        eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
        assert_eq!(siaga.send(&address, "image/jpeg", photo(40, 30, 1)).await, 200, "it is sent again");
        assert_eq!(storage.uploads(), ["used-card"]);
        storage.refuse_lists();
        let order = Moderation {
            report: 1.try_into().unwrap(),
            made_at: None,
            action: ModerationAction::Erase,
            by: Actor { subject: "moderators".to_owned(), username: None },
            reason: "its author asks".to_owned(),
        };
        assert!(siaga.store.moderate(&order).await.unwrap());
        eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
        assert!(matches!(storage.object("prefix/used-card.jpg").await, Err(Error::NotFound { .. })));
    });
}
