//! A service on the fixture's data with its own image storage.

use std::sync::Arc;

use async_trait::async_trait;
use figment::Figment;
use figment::providers::Serialized;
use image::RgbImage;
use rocket::http::Header;
use rocket::local::asynchronous::{Client, LocalResponse};
use serde_json::{Value, json};
use siaga::auth::KeyDigest;
use siaga::model::{Clock, SystemClock};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{OpenError, OpenStore, OpenedStore, Store, StoreSettings};

use crate::eventually::{LONG, eventually};
use crate::fixture;
use crate::photos::photo;

pub(crate) const KEY: &str = "a key for everything";
/// The public address of the image, returned with the upload address.
pub(crate) const IMAGE: &str = "http://localhost/v1/images/used-card.jpg";

/// A service with report 1 of `used-card`, and an HTTP client for its storage.
pub(crate) struct Siaga {
    pub(crate) client: Client,
    pub(crate) http: reqwest::Client,
    pub(crate) store: Arc<dyn Store>,
    /// References to the store before this service.
    others: usize,
}

pub(crate) fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(fixture::dataset(), Arc::new(SystemClock)))
}

impl Siaga {
    /// A service on a store of its own; `storage` configures its images.
    pub(crate) async fn start(storage: Figment) -> Self {
        Self::on(store(), storage).await
    }

    /// A service on a shared store.
    pub(crate) async fn on(store: Arc<dyn Store>, storage: Figment) -> Self {
        Self::by(Arc::new(SystemClock), store, storage).await
    }

    /// The same, with a clock.
    pub(crate) async fn by(clock: Arc<dyn Clock>, store: Arc<dyn Store>, storage: Figment) -> Self {
        let keys = json!([{ "name": "root", "sha256": KeyDigest::new(KEY).to_hex(), "scopes": ["admin"] }]);
        let figment = Figment::from(rocket::Config {
            log_level: rocket::config::LogLevel::Off,
            ..rocket::Config::debug_default()
        })
        .merge(Serialized::default("siaga.store", "shared"))
        .merge(Serialized::default("siaga.base_url", "http://localhost/v1"))
        .merge(Serialized::default("siaga.auth.api_keys", keys))
        .merge(Serialized::default("siaga.limits.timeout", "2s"))
        .merge(storage);
        let others = Arc::strong_count(&store);
        let opener = Arc::new(OpenShared(Arc::clone(&store)));
        let service =
            siaga::Siaga::builder().figment(figment).clock(clock).store(opener).build().await.unwrap();
        let client = Client::untracked(service.rocket).await.unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { client, http, store, others }
    }

    /// Ends it and its worker.
    pub(crate) async fn end(self) {
        self.client.rocket().shutdown().notify();
        let Self { client, store, others, .. } = self;
        drop(client);
        let users = async || Arc::strong_count(&store);
        eventually("nobody works on the store", LONG, users, |users| *users == others).await;
    }

    pub(crate) async fn get(&self, address: &str) -> LocalResponse<'_> {
        let key = Header::new("X-Api-Key", KEY);
        self.client.get(address.to_owned()).header(key).dispatch().await
    }

    /// Requests an upload address; returns status and body.
    pub(crate) async fn request_upload(&self, query: &str) -> (u16, Value) {
        let response = self.get(&format!("/v1/cards/used-card/images{query}")).await;
        (response.status().code, response.into_json().await.unwrap())
    }

    /// An upload address of `used-card`.
    pub(crate) async fn upload_address(&self, query: &str) -> String {
        let (status, response) = self.request_upload(query).await;
        assert_eq!(status, 200, "{response}");
        response["signedRequest"].as_str().unwrap().to_owned()
    }

    /// Uploads to the storage and returns the status.
    pub(crate) async fn send(&self, address: &str, kind: &str, body: Vec<u8>) -> u16 {
        let request = self.http.put(address).header("Content-Type", kind).body(body);
        request.send().await.unwrap().status().as_u16()
    }

    /// The image address of the report.
    pub(crate) async fn image_url(&self) -> Value {
        let report: Value = self.get("/v1/reports/1").await.into_json().await.unwrap();
        report["result"]["objects"]["output"]["geometries"][0]["properties"]["image_url"].clone()
    }

    pub(crate) async fn shows_an_image(&self) {
        let url = async || self.image_url().await;
        eventually("the report shows an image", LONG, url, |url| !url.is_null()).await;
    }

    /// Waits until a request for an upload address has this status.
    pub(crate) async fn until_status(&self, expected: u16) {
        let status = async || self.request_upload("").await.0;
        eventually(&format!("the status {expected}"), LONG, status, |status| *status == expected).await;
    }

    /// Publishes an image of `fresh-card`; the service lists all uploads for it.
    pub(crate) async fn publish_another(&self) {
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                             "location": { "lat": 0.5, "lng": 0.5 } });
        let reporting = self.client.put("/v1/cards/fresh-card").header(Header::new("X-Api-Key", KEY));
        assert_eq!(reporting.body(report.to_string()).dispatch().await.status().code, 200);
        let response: Value = self.get("/v1/cards/fresh-card/images").await.into_json().await.unwrap();
        let address = response["signedRequest"].as_str().unwrap();
        assert_eq!(self.send(address, "image/jpeg", photo(40, 30, 1)).await, 200);
        let status = async || self.get("/v1/images/fresh-card.jpg").await.status().code;
        eventually("the other image is served", LONG, status, |status| *status == 200).await;
    }

    pub(crate) async fn image(&self) -> RgbImage {
        let file = self.get("/v1/images/used-card.jpg").await.into_bytes().await.unwrap();
        image::load_from_memory(&file).unwrap().into_rgb8()
    }
}

/// Opens the same store for every service.
#[derive(Debug)]
struct OpenShared(Arc<dyn Store>);

#[async_trait]
impl OpenStore for OpenShared {
    fn name(&self) -> &'static str {
        "shared"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, _: &StoreSettings) -> Result<OpenedStore, OpenError> {
        Ok(OpenedStore::new(Arc::clone(&self.0)))
    }
}
