//! A format and a store the service does not know, added from outside.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::Status;
use serde_json::json;
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{
    ArchiveRecord, AreaId, FloodChange, FloodLayer, FloodStateRecord, Layer, LayerKind, SeriesPoint,
};
use siaga::stores::{
    FloodQuery, FloodStore, HistoryQuery, OpenStore, Resource, Revision, SetFloodState, Store, StoreError,
    StoreSettings, Versioned,
};

use crate::support::{KEY, Siaga, assert_invalid, figment, json_of, key};

#[derive(Debug)]
struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/csv; charset=utf-8"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn encode(&self, layer: &Layer, _: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Layer::Floods(floods) = layer;
        if floods.features().any(|flood| flood.area.name.contains('"')) {
            let source = "a quote".into();
            return Err(EncodeError { format: self.name().to_owned(), source });
        }
        for flood in floods.features() {
            out.extend(format!("{},{}\n", flood.area.id, flood.area.name).bytes());
        }
        Ok(())
    }
}

fn with_csv(default: &str) -> Siaga {
    let figment = figment()
        .merge(("siaga.formats.enabled", ["topojson", "csv"]))
        .merge(("siaga.formats.default", default));
    Siaga::with(figment, |builder| builder.format(Arc::new(Csv)))
}

#[test]
fn a_format_of_an_agency_is_chosen_like_the_services_own() {
    let siaga = with_csv("topojson");
    for query in ["geoformat=csv", "format=text", "format=text&geoformat=csv"] {
        let response = siaga.client.get(format!("/v1/floods?city=bdg&{query}")).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some("text/csv; charset=utf-8"));
        assert_eq!(response.into_string().unwrap(), "30,RW 30\n");
    }
    assert_eq!(siaga.result("/v1/floods")["type"], "Topology");
    assert_invalid(siaga.get("/v1/floods?geoformat=x"), "query", &["geoformat"], "one of [topojson, csv]");
    assert_eq!(with_csv("csv").get("/v1/floods?city=bdg").into_string().unwrap(), "30,RW 30\n");
}

#[test]
fn a_layer_a_format_cannot_write_is_a_500_that_tells_nothing() {
    let response_of = with_csv("topojson");
    let response = response_of.get("/v1/floods?geoformat=csv");
    assert_eq!(response.status(), Status::InternalServerError);
    let body = json_of(response);
    assert_eq!(
        body,
        json!({
            "statusCode": 500, "error": "Internal Server Error",
            "message": "the service failed; the failure was logged",
        })
    );
}

/// A store whose backend is away.
#[derive(Debug)]
struct Away;

fn away() -> StoreError {
    StoreError::Unavailable { retry_after: Duration::from_millis(2_500), source: "10.0.0.7 refused".into() }
}

impl std::fmt::Display for Away {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("away")
    }
}

#[async_trait]
impl FloodStore for Away {
    async fn floods(&self, _: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        Err(away())
    }

    async fn flood_states(&self, _: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        Err(StoreError::Backend { source: "SELECT secret".into() })
    }

    async fn flood_archive(&self, _: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError> {
        panic!("as a bug would")
    }

    async fn flood_series(&self, _: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        Err(away())
    }

    async fn flood_log(&self, _: AreaId) -> Result<Vec<FloodChange>, StoreError> {
        Err(away())
    }

    async fn set_flood_state(&self, _: SetFloodState) -> Result<FloodChange, StoreError> {
        Err(away())
    }
}

#[async_trait]
impl Store for Away {
    async fn revision(&self, _: Resource) -> Result<Revision, StoreError> {
        Err(away())
    }
}

#[async_trait]
impl OpenStore for Away {
    fn name(&self) -> &'static str {
        "away"
    }

    async fn open(
        &self,
        _: &StoreSettings,
    ) -> Result<Arc<dyn Store>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Arc::new(Self))
    }
}

fn with_away() -> Siaga {
    Siaga::with(figment().merge(("siaga.store", "away")), |builder| builder.store(Arc::new(Away)))
}

#[test]
fn a_store_that_cannot_be_reached_is_503_with_retry_after() {
    let siaga = with_away();
    let put = siaga.client.put("/v1/floods/5").header(key(KEY)).body(r#"{"state":2}"#).dispatch();
    for response in [siaga.get("/v1/floods"), put] {
        assert_eq!(response.status(), Status::ServiceUnavailable);
        assert_eq!(response.headers().get_one("Retry-After"), Some("3"));
        let body = response.into_string().unwrap();
        assert!(body.contains(r#""statusCode":503"#) && !body.contains("10.0.0.7"), "{body}");
    }
}

#[test]
fn a_failing_store_and_a_panic_are_500_without_a_word_about_the_cause() {
    let siaga = with_away();
    for address in
        ["/v1/floods/states", "/v1/floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z"]
    {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::InternalServerError);
        let body = response.into_string().unwrap();
        assert!(body.contains(r#""statusCode":500"#), "{body}");
        assert!(!body.contains("SELECT") && !body.contains("bug"), "{body}");
    }
}
