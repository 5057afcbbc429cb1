//! Photos that arrive before the report of their card.

use figment::providers::Serialized;
use rocket::http::{Accept, ContentType};
use serde_json::{Value, json};
use siaga::model::{Clock, SystemClock};

use crate::eventually::{LONG, eventually};
use crate::form;
use crate::photos::photo;
use crate::service::Siaga;
use crate::storage::Storage;

async fn open(storage: &Storage) -> Siaga {
    Siaga::start(storage.figment().merge(Serialized::default("siaga.cards.open", true))).await
}

#[rocket::async_test]
async fn a_photo_uploaded_before_the_report_without_a_key_is_published_with_the_report() {
    let storage = Storage::start().await;
    let siaga = open(&storage).await;
    let holder = json!({ "username": "u", "network": "n", "language": "id" }).to_string();
    let key = rocket::http::Header::new("X-Api-Key", crate::service::KEY);
    let created = siaga.client.post("/v1/cards").header(key).body(holder).dispatch().await;
    let created: Value = created.into_json().await.unwrap();
    let id = created["cardId"].as_str().unwrap();
    let card = format!("/v1/cards/{id}");
    let invitation = siaga.client.get(format!("{card}/images")).dispatch().await;
    let invitation: Value = invitation.into_json().await.unwrap();
    let address = invitation["signedRequest"].as_str().unwrap();
    assert_eq!(siaga.send(address, "image/jpeg", photo(80, 60, 1)).await, 200);
    let has_arrived = async || siaga.store.has_upload(&id.parse().unwrap()).await.unwrap();
    eventually("the upload is found", LONG, has_arrived, |found| *found).await;
    let image = format!("/v1/images/{id}.jpg");
    assert_eq!(siaga.client.get(&*image).dispatch().await.status().code, 404, "it waits");
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": SystemClock.now(),
                             "location": { "lat": -6.195, "lng": 106.805 } });
    let sent = siaga.client.put(&*card).body(report.to_string()).dispatch().await;
    assert_eq!(sent.status().code, 200);
    let status = async || siaga.client.get(&*image).dispatch().await.status().code;
    eventually("the photo is published", LONG, status, |status| *status == 200).await;
}

#[rocket::async_test]
async fn a_photo_of_the_form_is_shown_where_the_storage_receives_uploads() {
    let storage = Storage::start().await;
    let siaga = open(&storage).await;
    let form = form::whole("0123456789abcdef0123456789abcdef", &[], Some(&photo(80, 60, 1)));
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", form::BOUNDARY));
    let sent = siaga.client.post("/report").header(kind).header(Accept::JSON).body(form).dispatch().await;
    let sent: Value = sent.into_json().await.unwrap();
    let image = format!("/v1/images/{}.jpg", sent["cardId"].as_str().unwrap());
    let status = async || siaga.client.get(&*image).dispatch().await.status().code;
    eventually("the photo is published", LONG, status, |status| *status == 200).await;
    eventually("the upload is deleted", LONG, async || storage.uploads(), Vec::is_empty).await;
}
