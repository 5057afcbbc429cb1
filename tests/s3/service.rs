//! A service on the fixture's data, whose images are in a storage of their own.

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
/// What asking for an address of an upload answers, beside the address: where the image is found.
pub(crate) const IMAGE: &str = "http://localhost/v1/images/used-card.jpg";

/// A service in which report 1 is that of `used-card`, and what speaks to its storage.
pub(crate) struct Siaga {
    pub(crate) client: Client,
    pub(crate) http: reqwest::Client,
    pub(crate) store: Arc<dyn Store>,
    /// How many had the store before it.
    others: usize,
}

/// A store in memory that holds the fixture.
pub(crate) fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(fixture::dataset(), Arc::new(SystemClock)))
}

impl Siaga {
    /// A service on a store of its own; `storage` configures its images.
    pub(crate) async fn start(storage: Figment) -> Self {
        Self::on(store(), storage).await
    }

    /// A service on a store that others are on, too.
    pub(crate) async fn on(store: Arc<dyn Store>, storage: Figment) -> Self {
        Self::by(Arc::new(SystemClock), store, storage).await
    }

    /// The same, by a clock.
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

    /// Ends it, its worker included.
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

    /// The status of a request for an address of an upload, and its body.
    pub(crate) async fn ask(&self, query: &str) -> (u16, Value) {
        let answer = self.get(&format!("/v1/cards/used-card/images{query}")).await;
        (answer.status().code, answer.into_json().await.unwrap())
    }

    /// The address an image of `used-card` can be sent to.
    pub(crate) async fn invited(&self, query: &str) -> String {
        let (status, answer) = self.ask(query).await;
        assert_eq!(status, 200, "{answer}");
        answer["signedRequest"].as_str().unwrap().to_owned()
    }

    /// The status the storage answers an upload with.
    pub(crate) async fn send(&self, address: &str, kind: &str, body: Vec<u8>) -> u16 {
        let request = self.http.put(address).header("Content-Type", kind).body(body);
        request.send().await.unwrap().status().as_u16()
    }

    /// What the report shows.
    pub(crate) async fn image_url(&self) -> Value {
        let report: Value = self.get("/v1/reports/1").await.into_json().await.unwrap();
        report["result"]["objects"]["output"]["geometries"][0]["properties"]["image_url"].clone()
    }

    /// Waits until the report shows an image.
    pub(crate) async fn shows_an_image(&self) {
        let url = async || self.image_url().await;
        eventually("the report shows an image", LONG, url, |url| !url.is_null()).await;
    }

    /// Waits until a request for an address of an upload has this status.
    pub(crate) async fn answers(&self, expected: u16) {
        let status = async || self.ask("").await.0;
        eventually(&format!("the status {expected}"), LONG, status, |status| *status == expected).await;
    }

    /// Takes an image of `fresh-card`, for which it looks at all uploads there are.
    pub(crate) async fn takes_another(&self) {
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                             "location": { "lat": 0.5, "lng": 0.5 } });
        let reporting = self.client.put("/v1/cards/fresh-card").header(Header::new("X-Api-Key", KEY));
        assert_eq!(reporting.body(report.to_string()).dispatch().await.status().code, 200);
        let answer: Value = self.get("/v1/cards/fresh-card/images").await.into_json().await.unwrap();
        let address = answer["signedRequest"].as_str().unwrap();
        assert_eq!(self.send(address, "image/jpeg", photo(40, 30, 1)).await, 200);
        let status = async || self.get("/v1/images/fresh-card.jpg").await.status().code;
        eventually("the other image is served", LONG, status, |status| *status == 200).await;
    }

    /// The published image, as the service serves it.
    pub(crate) async fn image(&self) -> RgbImage {
        let file = self.get("/v1/images/used-card.jpg").await.into_bytes().await.unwrap();
        image::load_from_memory(&file).unwrap().into_rgb8()
    }
}

/// Hands out the same store to every service.
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
