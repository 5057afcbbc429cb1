//! A store whose backend is unreachable or fails otherwise.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::Status;
use siaga::model::bodies::{GaugeReadings, PartnerReport};
use siaga::model::{Card, CardHolder, CardId, FloodChange, FloodStateRecord, Report, ReportContent};
use siaga::stores::memory::OpenMemory;
use siaga::stores::{
    Check, Decorator, FloodQuery, ReceiveOutcome, Resource, Revision, SetFloodState, Store, StoreError,
    Versioned,
};

use crate::suite::support::{ADMIN_KEY, Siaga, figment, key};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// Fault of a store: unreachable, or flood states cannot be read.
#[derive(Clone, Debug, PartialEq)]
enum Fault {
    Away,
    States,
}

type StoreResult<T> = Result<T, StoreError>;

fn away<T>() -> StoreResult<T> {
    let retry_after = Duration::from_millis(2_500);
    Err(StoreError::Unavailable { retry_after, source: "10.0.0.7 refused".into() })
}

#[async_trait]
impl Decorator for Wrapped<Fault> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn revision(&self, resource: Resource) -> StoreResult<Revision> {
        if self.by == Fault::Away { away() } else { self.inner.revision(resource).await }
    }

    async fn readiness(&self) -> Vec<Check> {
        vec![Check::run("store", "does not answer", async { away::<()>() }).await]
    }

    async fn flood_states(&self, query: &FloodQuery) -> StoreResult<Versioned<Vec<FloodStateRecord>>> {
        assert!(query.minimum_state.is_none(), "as a bug would");
        Err(StoreError::Backend { source: "SELECT secret".into() })
    }

    async fn set_flood_state(&self, _: SetFloodState) -> StoreResult<FloodChange> {
        away()
    }

    async fn create_card(&self, _: CardHolder) -> StoreResult<Arc<Card>> {
        away()
    }

    async fn card(&self, _: &CardId) -> StoreResult<Arc<Card>> {
        away()
    }

    async fn receive_card_report(&self, _: &CardId, _: ReportContent) -> StoreResult<Arc<Report>> {
        away()
    }

    async fn receive_partner_report(&self, _: PartnerReport) -> StoreResult<ReceiveOutcome> {
        away()
    }

    async fn store_gauge(&self, _: GaugeReadings) -> StoreResult<usize> {
        away()
    }
}

fn with(fault: Fault) -> Siaga {
    Siaga::with(figment(), |builder| builder.store(OpenWrapped::new(OpenMemory, fault)))
}

pub(crate) fn with_away() -> Siaga {
    with(Fault::Away)
}

#[test]
fn a_store_that_cannot_be_reached_is_503_with_retry_after_on_every_route() {
    let siaga = with_away();
    let location = r#""location":{"lat":-6.19,"lng":106.81}"#;
    let created = r#""created_at":"2016-12-19T15:00:00Z""#;
    let report = format!(r#"{{"card_data":{{"report_type":"wind"}},{created},{location}}}"#);
    let post =
        format!(r#"{{"post_id":1,{created},"partner_city":"bandung","disaster_type":"flood",{location}}}"#);
    let gauge = format!(r#"{{"gaugeid":"T1","gaugenameid":"x",{location},"observations":[]}}"#);
    let card = r#"{"username":"u","network":"n","language":"id"}"#;
    for (method, route, body) in [
        ("GET", "floods", ""),
        ("GET", "floods/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z", ""),
        ("GET", "floods/timeseries?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z", ""),
        ("PUT", "floods/5", r#"{"state":2}"#),
        ("DELETE", "floods/5", ""),
        ("GET", "reports", ""),
        ("GET", "reports/1", ""),
        ("GET", "reports/archive?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z", ""),
        ("GET", "reports/timeseries?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z", ""),
        ("POST", "cards", card),
        ("GET", "cards/abcdefg", ""),
        ("PUT", "cards/abcdefg", &report),
        ("POST", "feeds/partner", &post),
        ("PUT", "feeds/partner", &post),
        ("PUT", "feeds", &post),
        ("GET", "stats/floodedRWsSummary", ""),
        ("GET", "infrastructure/pumps", ""),
        ("GET", "floodgauges", ""),
        ("PUT", "floodgauges", &gauge),
        ("GET", "infrastructure", ""),
        ("GET", "admin", ""),
        ("GET", "stats/floodedRegionsSummary", ""),
        ("GET", "stats/reportsSummary", ""),
    ] {
        let request = siaga.client.req(method.parse().unwrap(), format!("/v1/{route}"));
        let response = request.header(key(ADMIN_KEY)).body(body).dispatch();
        assert_eq!(response.status(), Status::ServiceUnavailable, "{method} {route}");
        assert_eq!(response.headers().get_one("Retry-After"), Some("3"));
        let body = response.into_string().unwrap();
        assert!(body.contains(r#""statusCode":503"#) && !body.contains("10.0.0.7"), "{body}");
    }
}

#[test]
fn a_failing_store_and_a_panic_are_500_without_the_cause() {
    let siaga = with(Fault::States);
    for address in ["/v1/floods/states", "/v1/floods/states?minimum_state=1"] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::InternalServerError);
        let body = response.into_string().unwrap();
        assert!(body.contains(r#""statusCode":500"#), "{body}");
        assert!(!body.contains("SELECT") && !body.contains("bug"), "{body}");
    }
}
