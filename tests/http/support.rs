//! A service on the fixture's data, used without a network.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use figment::Figment;
use figment::providers::Serialized;
use rocket::http::{Header, Method, Status};
use rocket::local::blocking::{Client, LocalResponse};
use rocket::tokio::runtime::{self, Runtime};
use rocket::{Build, Rocket};
use serde::Serialize;
use serde_json::{Value, json};
use siaga::Builder;
use siaga::auth::KeyDigest;
use siaga::model::{Actor, AreaLimit, Clock, ManualClock, Timestamp};
use siaga::stores::{Decorator, OpenStore, SetFloodState, Store};

use crate::backend::OpenFixture;
use crate::fixture;
use crate::suite::described::Described;
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// A key with the scope `floods:write`.
pub(crate) const KEY: &str = "a key for floods";
/// A key with the scope `admin`.
pub(crate) const ADMIN_KEY: &str = "a key for everything";
/// A key with the scope `gauges:write`.
pub(crate) const OTHER_KEY: &str = "a key for gauges";
pub(crate) const SECRET: &str = "a secret of thirty-two bytes or more";

/// The configuration of the tests: nothing from files or the environment.
pub(crate) fn figment() -> Figment {
    figment_without_tokens().merge(Serialized::default("siaga.auth.jwt.secret", SECRET))
}

/// The same without the secret of tokens.
pub(crate) fn figment_without_tokens() -> Figment {
    let keys =
        [("bpbd", KEY, "floods:write"), ("root", ADMIN_KEY, "admin"), ("gauges", OTHER_KEY, "gauges:write")];
    let keys = keys.map(|(name, key, scope)| {
        json!({ "name": name, "sha256": KeyDigest::new(key).to_hex(), "scopes": [scope] })
    });
    Figment::from(rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        ..rocket::Config::debug_default()
    })
    .merge(Serialized::default("siaga.store", "fixture"))
    .merge(Serialized::default("siaga.base_url", "http://localhost/v1"))
    .merge(Serialized::default("siaga.auth.api_keys", keys))
    .merge(Serialized::default("siaga.images.url", "memory:///"))
    .merge(Serialized::default("siaga.images.signing_key", SECRET))
    // Without optimizations and beside other tests a large map takes longer than the default.
    .merge(Serialized::default("siaga.limits.timeout", "1m"))
}

/// A server, its clock, and the opener of its store.
pub(crate) async fn service(
    figment: Figment,
    parts: impl FnOnce(Builder) -> Builder,
) -> (Rocket<Build>, Arc<ManualClock>, Arc<OpenFixture>) {
    let clock = Arc::new(ManualClock::new(fixture::now()));
    let opener = Arc::new(OpenFixture::default());
    let rocket = service_on(figment, parts, &clock, &opener).await;
    (rocket, clock, opener)
}

async fn service_on(
    figment: Figment,
    parts: impl FnOnce(Builder) -> Builder,
    clock: &Arc<ManualClock>,
    opener: &Arc<OpenFixture>,
) -> Rocket<Build> {
    let builder = siaga::Siaga::builder()
        .figment(figment)
        .clock(Arc::clone(clock) as Arc<dyn Clock>)
        .store(Arc::clone(opener) as Arc<dyn OpenStore>);
    let builder = parts(builder);
    let description = Described::new(builder.openapi().unwrap());
    builder.attach(description).build().await.unwrap().rocket
}

/// A service and its clock.
pub(crate) struct Siaga {
    pub(crate) client: Client,
    pub(crate) clock: Arc<ManualClock>,
    /// Runs the connections of the store, so it must end after the service.
    runtime: Runtime,
    opener: Arc<OpenFixture>,
}

impl Siaga {
    /// A service with the default configuration of the tests.
    pub(crate) fn start() -> Self {
        Self::with(figment(), |builder| builder)
    }

    pub(crate) fn with_setting(key: &str, value: impl Serialize) -> Self {
        Self::with(figment().merge((key, value)), |builder| builder)
    }

    /// A service with another configuration or further parts.
    pub(crate) fn with(figment: Figment, parts: impl FnOnce(Builder) -> Builder) -> Self {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (rocket, clock, opener) = runtime.block_on(service(figment, parts));
        let client = Client::untracked(rocket).unwrap();
        Self { client, clock, runtime, opener }
    }

    /// Another server on the same store.
    pub(crate) fn another_server(&self, figment: Figment) -> Client {
        let other = service_on(figment, |builder| builder, &self.clock, &self.opener);
        Client::untracked(self.runtime.block_on(other)).unwrap()
    }

    /// Another server on the same store, through a decorator.
    pub(crate) fn another_server_with<By: Clone + Debug + Send + Sync + 'static>(
        &self,
        figment: Figment,
        by: By,
    ) -> Client
    where
        Wrapped<By>: Decorator,
    {
        let wrapped = OpenWrapped::wrapping(Arc::clone(&self.opener) as _, by);
        let other = service_on(figment, |builder| builder.store(wrapped), &self.clock, &self.opener);
        Client::untracked(self.runtime.block_on(other)).unwrap()
    }

    /// A client of a service on the same data that stores cookies like a browser.
    pub(crate) fn with_cookies(&self, figment: Figment) -> Client {
        let other = service_on(figment, |builder| builder, &self.clock, &self.opener);
        Client::tracked(self.runtime.block_on(other)).unwrap()
    }

    /// Blocks on a future of the store.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Ends the service, then blocks on a future while the store is still open.
    pub(crate) fn end<F: Future>(self, future: F) -> F::Output {
        let Self { client, clock: _, runtime, opener: _opener } = self;
        client.terminate();
        runtime.block_on(future)
    }

    /// Creates a card and returns its identifier.
    pub(crate) fn card(&self) -> String {
        let holder = json!({ "username": "Ani", "network": "telegram", "language": "id" });
        let created = json_of(self.request(Method::Post, "/v1/cards", holder.to_string()));
        created["cardId"].as_str().unwrap().to_owned()
    }

    /// Changes the state of an area repeatedly; each state raises an alert.
    pub(crate) fn change_often(&self, area: u64, times: u64) {
        let store = self.client.rocket().state::<Arc<dyn Store>>().unwrap();
        self.wait(async {
            for number in 0..times {
                let (area, state) = (fixture::id(area), Some(fixture::state(2 + number % 2)));
                let by = Actor { subject: "test".to_owned(), username: None };
                store
                    .set_flood_state(SetFloodState { area, state, by, limit: AreaLimit::Everywhere })
                    .await
                    .unwrap();
            }
        });
    }

    /// The value of a metric.
    pub(crate) fn metric(&self, series: &str) -> f64 {
        let page = self.get("/metrics").into_string().unwrap();
        let number = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        number.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
    }

    pub(crate) fn is_current(&self, address: &str, tag: &str) -> bool {
        let request = self.client.get(address.to_owned());
        let response = request.header(Header::new("If-None-Match", tag.to_owned())).dispatch();
        response.status() == Status::NotModified
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now().saturating_add(time));
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn get<'c>(&'c self, address: &'c str) -> LocalResponse<'c> {
        self.client.get(address).dispatch()
    }

    pub(crate) fn get_from<'c>(&'c self, host: &str, address: &'c str) -> LocalResponse<'c> {
        let peer = SocketAddr::new(host.parse().unwrap(), 4711);
        self.client.get(address).remote(peer).dispatch()
    }

    /// The `result` of a successful response.
    pub(crate) fn result(&self, address: &str) -> Value {
        let response = self.get(address);
        assert_eq!(response.status(), Status::Ok, "{address}");
        let body = json_of(response);
        assert_eq!(body["statusCode"], 200);
        body["result"].clone()
    }

    pub(crate) fn put<'c>(&'c self, address: &'c str, body: impl AsRef<[u8]>) -> LocalResponse<'c> {
        self.client.put(address).header(key(KEY)).body(body).dispatch()
    }

    /// Sends a request with [`ADMIN_KEY`].
    pub(crate) fn request<'c>(
        &'c self,
        method: Method,
        address: &'c str,
        body: impl AsRef<[u8]>,
    ) -> LocalResponse<'c> {
        self.client.req(method, address).header(key(ADMIN_KEY)).body(body).dispatch()
    }

    pub(crate) fn delete<'c>(&'c self, address: &'c str) -> LocalResponse<'c> {
        self.client.delete(address).header(key(KEY)).dispatch()
    }
}

pub(crate) fn key(key: &str) -> Header<'static> {
    Header::new("X-Api-Key", key.to_owned())
}

pub(crate) fn json_of(response: LocalResponse<'_>) -> Value {
    response.into_json().expect("a JSON body")
}

/// The contract's partner report with some members replaced or added.
pub(crate) fn partner_report(changes: Value) -> Value {
    let mut body = json!({
        "post_id": 1, "created_at": "2016-12-19T16:00:00.011Z", "image_url": "http://myimg",
        "partner_city": "jabodetabek", "disaster_type": "flood", "text": "A big flood",
        "location": { "lat": -6.195, "lng": 106.805 },
    });
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    body
}

/// The properties of all features of a topology.
pub(crate) fn properties(result: &Value) -> Vec<Value> {
    let geometries = result["objects"]["output"]["geometries"].as_array().unwrap();
    geometries.iter().map(|geometry| geometry["properties"].clone()).collect()
}

/// One property of all features of a topology.
pub(crate) fn each(result: &Value, property: &str) -> Vec<Value> {
    properties(result).iter().map(|feature| feature[property].clone()).collect()
}

/// Asserts a 400 about keys of a source, whose message contains a text.
pub(crate) fn assert_invalid(response: LocalResponse<'_>, source: &str, keys: &[&str], expected: &str) {
    assert_eq!(response.status(), Status::BadRequest, "{expected}");
    let body = json_of(response);
    assert_eq!((&body["statusCode"], &body["error"]), (&json!(400), &json!("Bad Request")));
    assert_eq!(body["validation"], json!({ "source": source, "keys": keys }));
    let message = body["message"].as_str().unwrap();
    assert!(message.contains(expected), "{message}");
}
