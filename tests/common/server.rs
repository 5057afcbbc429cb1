//! A server on a database, used without a network.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::sync::Arc;

use figment::Figment;
use rocket::http::Header;
use rocket::local::asynchronous::{Client, LocalRequest};
use serde_json::{Value, json};
use siaga::auth::KeyDigest;
use siaga::stores::Store;
use siaga::{BuildError, Siaga};

pub(crate) use crate::running::KEY;

/// A configuration with a database of this address and nothing from files or the environment.
pub(crate) fn figment(url: &str) -> Figment {
    let keys = json!([{ "name": "root", "sha256": KeyDigest::new(KEY).to_hex(), "scopes": ["admin"] }]);
    let config =
        rocket::Config { log_level: rocket::config::LogLevel::Off, ..rocket::Config::debug_default() };
    Figment::from(config)
        .merge(("siaga.store", "postgres"))
        .merge(("siaga.base_url", "http://localhost/v1"))
        .merge(("siaga.auth.api_keys", keys))
        .merge(("siaga.limits.timeout", "2s"))
        // Stale responses would hide that the database is unreachable.
        .merge(("siaga.limits.stale", 0))
        .merge(("siaga.images.url", "memory:///"))
        .merge(("siaga.images.signing_key", "a key for uploads"))
        .merge(("databases.siaga.url", url))
}

pub(crate) struct Server {
    pub(crate) client: Arc<Client>,
    pub(crate) store: Arc<dyn Store>,
}

impl Server {
    pub(crate) async fn on(url: &str) -> Self {
        Self::new(build(figment(url)).await.unwrap()).await
    }

    pub(crate) async fn new(service: Siaga) -> Self {
        let client = Client::untracked(service.rocket).await.unwrap();
        Self { client: Arc::new(client), store: service.store }
    }

    pub(crate) async fn get(&self, target: &str) -> (u16, Value) {
        get(&self.client, target).await
    }

    async fn status(&self, request: LocalRequest<'_>) -> u16 {
        request.header(Header::new("X-Api-Key", KEY)).dispatch().await.status().code
    }

    pub(crate) async fn set(&self, area: u64, state: u64) -> u16 {
        let request = self.client.put(format!("/v1/floods/{area}"));
        self.status(request.body(json!({ "state": state }).to_string())).await
    }

    /// The status of a request for a card, which is never cached.
    pub(crate) async fn card(&self) -> u16 {
        self.status(self.client.get("/v1/cards/used-card")).await
    }

    pub(crate) async fn make_card(&self) -> u16 {
        let holder = r#"{"username":"u","network":"n","language":"id"}"#;
        self.status(self.client.post("/v1/cards").body(holder)).await
    }

    pub(crate) async fn state(&self, area: u64) -> Option<u64> {
        let (status, body) = self.get("/v1/floods/states").await;
        assert_eq!(status, 200, "{body}");
        let mut records = body["result"].as_array().unwrap().iter();
        records.find(|record| record["area_id"] == area.to_string().as_str())?["state"].as_u64()
    }
}

pub(crate) async fn get(client: &Client, target: &str) -> (u16, Value) {
    let response = client.get(target.to_owned()).dispatch().await;
    (response.status().code, response.into_json().await.unwrap())
}

pub(crate) async fn build(figment: Figment) -> Result<Siaga, BuildError> {
    Siaga::builder().figment(figment).build().await
}
