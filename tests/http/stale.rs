//! What public reads get while the store is away: the last response, for a while.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::{Header, Method, Status};
use siaga::model::{Clock, FloodLayer, FloodStateRecord, ReportLayer, Timestamp};
use siaga::stores::{
    Decorator, FloodQuery, OpenError, OpenStore, OpenedStore, ReportQuery, Resource, Revision, Store,
    StoreError, StoreSettings, Versioned,
};

use crate::backend::OpenFixture;
use crate::suite::support::{Siaga, figment};

/// What of a store is away.
#[derive(Debug, Default)]
struct Away {
    revisions: AtomicBool,
    data: AtomicBool,
}

/// A store that can be away.
#[derive(Debug)]
struct Failing {
    inner: Arc<dyn Store>,
    away: Arc<Away>,
    /// Keeps the data for as long as there is the store.
    _fixture: Arc<OpenFixture>,
}

#[derive(Debug, Default)]
struct OpenFailing {
    fixture: Arc<OpenFixture>,
    away: Arc<Away>,
}

impl Away {
    fn all(&self, away: bool) {
        self.revisions.store(away, Ordering::SeqCst);
        self.data.store(away, Ordering::SeqCst);
    }
}

fn unless(away: &AtomicBool) -> Result<(), StoreError> {
    if away.load(Ordering::SeqCst) {
        return Err(StoreError::Unavailable {
            retry_after: Duration::from_secs(1),
            source: "it is away".into(),
        });
    }
    Ok(())
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, which can be away", self.inner)
    }
}

#[async_trait]
impl Decorator for Failing {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        unless(&self.away.revisions)?;
        self.inner.revision(resource).await
    }

    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        unless(&self.away.data)?;
        self.inner.floods(query).await
    }

    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        unless(&self.away.data)?;
        self.inner.flood_states(query).await
    }

    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        unless(&self.away.data)?;
        self.inner.reports(query).await
    }
}

#[async_trait]
impl OpenStore for OpenFailing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let mut opened = self.fixture.open(settings).await?;
        let (away, fixture) = (Arc::clone(&self.away), Arc::clone(&self.fixture));
        opened.store = Arc::new(Failing { inner: opened.store, away, _fixture: fixture });
        Ok(opened)
    }
}

fn with_failing(settings: &[(&str, &str)]) -> (Siaga, Arc<Away>) {
    let figment = figment().merge(("siaga.store", "failing")).merge(("siaga.metrics.enabled", true));
    let figment = settings.iter().fold(figment, |figment, setting| figment.merge(*setting));
    let opener = Arc::new(OpenFailing::default());
    let away = Arc::clone(&opener.away);
    (Siaga::with(figment, |builder| builder.store(opener)), away)
}

fn pass(siaga: &Siaga, seconds: u64) -> Timestamp {
    let now = siaga.clock.now().after(Duration::from_secs(seconds));
    siaga.clock.set(now);
    now
}

#[test]
fn while_the_store_is_away_reads_get_the_last_response_and_how_old_it_is() {
    let (siaga, away) = with_failing(&[]);
    for address in ["/v1/floods", "/v1/floods/states", "/v1/reports"] {
        let first = siaga.get(address);
        assert_eq!(first.headers().get_one("Siaga-Stale-Since"), None, "{address}");
        let tag = first.headers().get_one("ETag").unwrap().to_owned();
        let body = first.into_string().unwrap();
        let current_at = pass(&siaga, 10);
        assert_eq!(siaga.get(address).status(), Status::Ok, "it is known to be current");

        pass(&siaga, 30);
        away.all(true);
        let stale = siaga.get(address);
        assert_eq!(stale.status(), Status::Ok, "{address}");
        assert_eq!(stale.headers().get_one("Siaga-Stale-Since"), Some(current_at.to_string().as_str()));
        assert_eq!(stale.headers().get_one("Age"), Some("30"));
        let exposed = stale.headers().get_one("Access-Control-Expose-Headers").unwrap();
        assert!(exposed.contains("Age, ") && exposed.contains("Siaga-Stale-Since"), "{exposed}");
        assert_eq!(stale.into_string().unwrap(), body, "{address}");
        let known = siaga.client.get(address).header(Header::new("If-None-Match", tag)).dispatch();
        assert_eq!(known.status(), Status::NotModified, "{address}");
        assert!(known.headers().contains("Siaga-Stale-Since"), "{address}");

        away.all(false);
        assert_eq!(siaga.get(address).headers().get_one("Siaga-Stale-Since"), None, "{address}");
    }
    let page = siaga.get("/metrics").into_string().unwrap();
    assert!(page.contains("siaga_stale_responses_total 6\n"), "{page}");
}

#[test]
fn what_was_not_read_before_and_what_is_written_is_503_while_the_store_is_away() {
    let (siaga, away) = with_failing(&[]);
    let card = "/v1/cards/fresh-card";
    assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
    away.all(true);
    for address in ["/v1/floods?city=jbd", "/v1/floods?geoformat=geojson", "/v1/reports"] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::ServiceUnavailable, "{address}");
        assert!(response.headers().contains("Retry-After"), "{address}");
    }
    // What needs a credential is never in the cache.
    assert_eq!(siaga.ask(Method::Get, card, "").headers().get_one("Siaga-Stale-Since"), None);
}

#[test]
fn a_rendering_that_fails_leaves_the_last_response_there() {
    let (siaga, away) = with_failing(&[]);
    let before = siaga.get("/v1/floods/states").into_string().unwrap();
    let current_at = siaga.clock.now();
    pass(&siaga, 5);
    assert_eq!(siaga.put("/v1/floods/1", r#"{"state":4}"#).status(), Status::Ok);
    away.data.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let stale = siaga.get("/v1/floods/states");
        assert_eq!(stale.headers().get_one("Siaga-Stale-Since"), Some(current_at.to_string().as_str()));
        assert_eq!(stale.into_string().unwrap(), before);
    }
    away.all(false);
    let after = siaga.get("/v1/floods/states");
    assert_eq!(after.headers().get_one("Siaga-Stale-Since"), None);
    assert_ne!(after.into_string().unwrap(), before);
}

#[test]
fn a_response_is_returned_for_no_longer_than_configured_after_it_was_current() {
    for (stale, seconds) in [("", 3_600), ("90s", 90), ("0", 0)] {
        let settings = [("siaga.limits.stale", stale)];
        let (siaga, away) = with_failing(if stale.is_empty() { &[] } else { &settings });
        assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
        away.all(true);
        if seconds > 0 {
            pass(&siaga, seconds);
            assert_eq!(siaga.get("/v1/floods").status(), Status::Ok, "{stale}");
            pass(&siaga, 1);
        }
        assert_eq!(siaga.get("/v1/floods").status(), Status::ServiceUnavailable, "{stale}");
    }
}

#[test]
fn no_alert_is_returned_that_has_expired() {
    let (siaga, away) =
        with_failing(&[("siaga.limits.stale", "1d"), ("siaga.formats.cap.expires_after", "2h")]);
    for address in ["/v1/floods", "/v1/floods?geoformat=cap"] {
        assert_eq!(siaga.get(address).status(), Status::Ok);
    }
    away.all(true);
    pass(&siaga, 7_199);
    assert_eq!(siaga.get("/v1/floods?geoformat=cap").headers().get_one("Age"), Some("7199"));
    pass(&siaga, 1);
    assert_eq!(siaga.get("/v1/floods?geoformat=cap").status(), Status::ServiceUnavailable);
    assert_eq!(siaga.get("/v1/floods").status(), Status::Ok, "a map does not expire");
}
