//! A store with only the required methods, such as an agency's own, passes the whole suite.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use figment::Figment;
use figment::providers::Serialized;
use rocket::http::{Header, Method, Status};
use rocket::local::asynchronous::Client;
use serde_json::{Value, json};
use siaga::Siaga;
use siaga::auth::KeyDigest;
use siaga::model::bodies::{GaugeReadings, PartnerReport};
use siaga::model::{
    ArchiveRecord, AreaId, Card, CardHolder, CardId, Clock, FloodChange, FloodLayer, GaugeLayer, ManualClock,
    Mute, Places, Report, ReportContent, ReportKey, ReportLayer, SeriesPoint,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{
    CardStore, FeedStore, FloodQuery, FloodStore, GaugeQuery, GaugeStore, HistoryQuery, ImageStore, KeyStore,
    ModerationStore, OpenError, OpenStore, OpenedStore, PlaceStore, PushStore, ReceiveOutcome, ReportQuery,
    ReportStore, Resource, Revision, ServiceState, ServiceStore, SetFloodState, SourceStore, Store,
    StoreError, StoreSettings, Versioned, WebhookStore,
};
use siaga_conformance::store_suite;
use siaga_conformance::stores::FreshStore;
use siaga_conformance::{block_on, fixture};

type StoreResult<T> = Result<T, StoreError>;

/// A store with the data of a memory store, but with its own service state.
#[derive(Debug)]
struct Agency {
    data: MemoryStore,
    state: ServiceState,
}

impl fmt::Display for Agency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an agency's store")
    }
}

#[async_trait]
impl FloodStore for Agency {
    async fn floods(&self, query: &FloodQuery) -> StoreResult<Versioned<FloodLayer>> {
        self.data.floods(query).await
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> StoreResult<Versioned<Vec<ArchiveRecord>>> {
        self.data.flood_archive(query).await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> StoreResult<Versioned<Vec<SeriesPoint>>> {
        self.data.flood_series(query).await
    }

    async fn flood_log(&self, area: AreaId) -> StoreResult<Vec<FloodChange>> {
        self.data.flood_log(area).await
    }

    async fn set_flood_state(&self, order: SetFloodState) -> StoreResult<FloodChange> {
        self.data.set_flood_state(order).await
    }
}

#[async_trait]
impl ReportStore for Agency {
    async fn reports(&self, query: &ReportQuery) -> StoreResult<Versioned<ReportLayer>> {
        self.data.reports(query).await
    }

    async fn report(&self, key: ReportKey) -> StoreResult<Versioned<Arc<Report>>> {
        self.data.report(key).await
    }
}

#[async_trait]
impl CardStore for Agency {
    async fn create_card(&self, holder: CardHolder) -> StoreResult<Arc<Card>> {
        self.data.create_card(holder).await
    }

    async fn card(&self, id: &CardId) -> StoreResult<Arc<Card>> {
        self.data.card(id).await
    }

    async fn receive_card_report(&self, id: &CardId, content: ReportContent) -> StoreResult<Arc<Report>> {
        self.data.receive_card_report(id, content).await
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> StoreResult<bool> {
        self.data.show_card_image(id, image).await
    }
}

#[async_trait]
impl FeedStore for Agency {
    async fn receive_partner_report(&self, report: PartnerReport) -> StoreResult<ReceiveOutcome> {
        self.data.receive_partner_report(report).await
    }
}

#[async_trait]
impl GaugeStore for Agency {
    async fn gauges(&self, query: &GaugeQuery) -> StoreResult<Versioned<GaugeLayer>> {
        self.data.gauges(query).await
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> StoreResult<usize> {
        self.data.store_gauge(readings).await
    }

    async fn mute_gauge(&self, id: &str, entry: Mute) -> StoreResult<()> {
        self.data.mute_gauge(id, entry).await
    }

    async fn gauge_log(&self, id: &str) -> StoreResult<Vec<Mute>> {
        self.data.gauge_log(id).await
    }
}

#[async_trait]
impl PlaceStore for Agency {
    async fn places(&self) -> StoreResult<Versioned<Arc<Places>>> {
        self.data.places().await
    }
}

impl ServiceStore for Agency {
    fn service_state(&self) -> Option<&ServiceState> {
        Some(&self.state)
    }
}

impl ModerationStore for Agency {}

impl ImageStore for Agency {}

impl KeyStore for Agency {}

impl SourceStore for Agency {}

impl WebhookStore for Agency {}
impl PushStore for Agency {}

#[async_trait]
impl Store for Agency {
    async fn revision(&self, resource: Resource) -> StoreResult<Revision> {
        self.data.revision(resource).await
    }
}

struct Fresh;

#[async_trait]
impl FreshStore for Fresh {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let data = MemoryStore::new(fixture::dataset(), Arc::clone(&clock));
        Arc::new(Agency { data, state: ServiceState::new(clock) })
    }
}

// Such a store has no overview, so metrics have no values from it. It cannot change many areas at once, hide reports, create
// cards with a chosen identifier, check limits, or erase unused cards.
store_suite!(
    Fresh,
    without batches, limits, moderation, overview;
    except
    gauges::erased_readings_are_gone_and_later_ones_stay,
        images::an_early_upload_is_erased_with_its_card,
        cards::a_chosen_card_identifier_is_used_once,
        cards::unused_cards_are_erased_by_creation_time,
);

#[derive(Debug)]
struct OpenAgency;

#[async_trait]
impl OpenStore for OpenAgency {
    fn name(&self) -> &'static str {
        "agency"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        Ok(OpenedStore::new(Fresh.open(Arc::clone(&settings.clock)).await))
    }
}

#[test]
fn no_key_is_made_in_a_store_that_would_forget_it() {
    let figment = Figment::from(rocket::Config::debug_default())
        .merge(Serialized::default("siaga.store", "agency"))
        .merge(Serialized::default("siaga.images.url", "memory:///"))
        .merge(Serialized::default("siaga.images.signing_key", "a secret of thirty-two bytes or more"));
    let builder = Siaga::builder().figment(figment).store(Arc::new(OpenAgency));
    let refused = block_on(builder.open_persistent_store()).unwrap_err().to_string();
    assert_eq!(
        refused,
        r#"siaga.store is "agency", which keeps no API keys: list them under siaga.auth.api_keys"#
    );
}

#[test]
fn limited_keys_cannot_write_to_a_store_that_checks_no_limits() {
    let key = |name: &str, areas: Value| {
        let mut key = json!({
            "name": name, "sha256": KeyDigest::new(name).to_hex(), "scopes": ["floods:write", "reports:moderate"],
        });
        key.as_object_mut().unwrap().extend(areas.as_object().unwrap().clone());
        key
    };
    let keys = [key("all", json!({})), key("district", json!({ "areas": { "city": ["jbd"] } }))];
    let figment = Figment::from(rocket::Config::debug_default())
        .merge(Serialized::default("siaga.store", "agency"))
        .merge(Serialized::default("siaga.auth.api_keys", keys))
        .merge(Serialized::default("siaga.images.url", "memory:///"))
        .merge(Serialized::default("siaga.images.signing_key", "a secret of thirty-two bytes or more"));
    block_on(async {
        let built = Siaga::builder().figment(figment).store(Arc::new(OpenAgency)).build().await.unwrap();
        let client = Client::untracked(built.rocket).await.unwrap();
        for (method, path, body) in [
            (Method::Put, "floods/5", json!({ "state": 2 })),
            (Method::Post, "floods/changes", json!({ "changes": [{ "area_id": "5", "state": 2 }] })),
            (Method::Put, "reports/1/visibility", json!({ "hidden": true, "reason": "a test" })),
        ] {
            let request =
                client.req(method, format!("/v1/{path}")).header(Header::new("X-Api-Key", "district"));
            let response = request.body(body.to_string()).dispatch().await;
            let body: Value = response.into_json().await.unwrap();
            assert_eq!(body["statusCode"], 403, "{path}");
            let message = body["message"].as_str().unwrap();
            assert!(message.contains("does not check the areas of credentials"), "{message}");
        }
        let request = client.put("/v1/floods/5").header(Header::new("X-Api-Key", "all"));
        assert_eq!(request.body(r#"{"state":2}"#).dispatch().await.status(), Status::Ok);
    });
}

#[test]
fn the_counting_of_a_store_without_an_epoch_is_that_of_the_process() {
    block_on(async {
        let store = Fresh.open(Arc::new(ManualClock::new(fixture::now()))).await;
        assert_eq!(store.epoch().await.unwrap(), None);
    });
}
