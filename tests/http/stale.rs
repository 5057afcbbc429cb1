//! Stale responses while the store is unreachable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rocket::http::{Header, Method, Status};
use rocket::local::asynchronous;
use rocket::local::blocking::LocalResponse;
use rocket::tokio;
use rocket::tokio::sync::Notify;
use serde_json::{Value, json};
use siaga::model::{Clock, FloodLayer, FloodStateRecord, ManualClock, Places, ReportLayer, Timestamp};
use siaga::stores::{Decorator, FloodQuery, ReportQuery, Resource, Revision, Store, StoreError, Versioned};

use crate::backend::OpenFixture;
use crate::fixture::block_on;
use crate::independent::changes::{read_until, result};
use crate::suite::eventually::{LONG, eventually_blocking, patiently};
use crate::suite::support::{ADMIN_KEY, Siaga, figment, json_of, key, service};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

const HIDE: &str = r#"{"hidden":true,"reason":"shows a person's name"}"#;

/// Faults to inject into a store.
#[derive(Debug, Default)]
struct Away {
    revisions: AtomicBool,
    data: AtomicBool,
    /// Whether reads of reports block before they return.
    slow: AtomicBool,
    read: Notify,
    resume: Notify,
    /// Whether revisions and places never return.
    hangs: AtomicBool,
}

impl Away {
    fn all(&self, away: bool) {
        self.revisions.store(away, Ordering::SeqCst);
        self.data.store(away, Ordering::SeqCst);
    }

    async fn hang(&self) {
        if self.hangs.load(Ordering::SeqCst) {
            rocket::futures::future::pending::<()>().await;
        }
    }
}

fn fail_if(away: &AtomicBool) -> Result<(), StoreError> {
    if away.load(Ordering::SeqCst) {
        return Err(StoreError::Unavailable {
            retry_after: Duration::from_secs(1),
            source: "it is away".into(),
        });
    }
    Ok(())
}

#[async_trait]
impl Decorator for Wrapped<Arc<Away>> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        fail_if(&self.by.revisions)?;
        self.by.hang().await;
        self.inner.revision(resource).await
    }

    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        self.by.hang().await;
        self.inner.places().await
    }

    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        fail_if(&self.by.data)?;
        self.inner.floods(query).await
    }

    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        fail_if(&self.by.data)?;
        self.inner.flood_states(query).await
    }

    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        fail_if(&self.by.data)?;
        let found = self.inner.reports(query).await;
        if self.by.slow.load(Ordering::SeqCst) {
            self.by.read.notify_one();
            self.by.resume.notified().await;
        }
        found
    }
}

fn failing() -> (Arc<OpenWrapped<Arc<Away>>>, Arc<Away>) {
    let away = Arc::new(Away::default());
    (OpenWrapped::new(OpenFixture::default(), Arc::clone(&away)), away)
}

fn with_failing(settings: &[(&str, &str)]) -> (Siaga, Arc<Away>) {
    let (opener, away) = failing();
    (on_failing(opener, settings), away)
}

fn on_failing(opener: Arc<OpenWrapped<Arc<Away>>>, settings: &[(&str, &str)]) -> Siaga {
    let figment = figment().merge(("siaga.metrics.enabled", true));
    let figment = settings.iter().fold(figment, |figment, setting| figment.merge(*setting));
    Siaga::with(figment, |builder| builder.store(opener))
}

/// An asynchronous client of a service with a store that can fail, and the clock.
async fn client() -> (Arc<asynchronous::Client>, Arc<Away>, Arc<ManualClock>) {
    let (opener, away) = failing();
    let (rocket, clock, _) = service(figment(), |builder| builder.store(opener)).await;
    (Arc::new(asynchronous::Client::untracked(rocket).await.unwrap()), away, clock)
}

fn pass(siaga: &Siaga, seconds: u64) -> Timestamp {
    siaga.pass(Duration::from_secs(seconds));
    siaga.now()
}

fn stale_since(response: &LocalResponse<'_>) -> Option<String> {
    response.headers().get_one("Siaga-Stale-Since").map(str::to_owned)
}

#[test]
fn reads_get_the_last_response_and_its_age_while_the_store_is_unreachable() {
    let (siaga, away) = with_failing(&[]);
    for address in ["/v1/floods", "/v1/floods/states", "/v1/reports"] {
        let first = siaga.get(address);
        assert_eq!(stale_since(&first), None, "{address}");
        let tag = first.headers().get_one("ETag").unwrap().to_owned();
        let body = first.into_string().unwrap();
        let current_at = pass(&siaga, 10);
        assert_eq!(siaga.get(address).status(), Status::Ok, "it is known to be current");

        pass(&siaga, 30);
        away.all(true);
        let stale = siaga.get(address);
        assert_eq!((stale.status(), stale_since(&stale)), (Status::Ok, Some(current_at.to_string())));
        assert_eq!(stale.headers().get_one("Age"), Some("30"));
        let exposed = stale.headers().get_one("Access-Control-Expose-Headers").unwrap();
        assert!(exposed.contains("Age, ") && exposed.contains("Siaga-Stale-Since"), "{exposed}");
        assert_eq!(stale.into_string().unwrap(), body, "{address}");
        let known = siaga.client.get(address).header(Header::new("If-None-Match", tag)).dispatch();
        assert_eq!(known.status(), Status::NotModified, "{address}");
        assert!(stale_since(&known).is_some(), "{address}");

        away.all(false);
        assert_eq!(stale_since(&siaga.get(address)), None, "{address}");
    }
    assert_eq!(siaga.metric("siaga_stale_responses_total"), 6.0);
}

#[test]
fn uncached_responses_are_503_while_the_store_is_unreachable() {
    let (siaga, away) = with_failing(&[]);
    assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
    away.all(true);
    for address in ["/v1/floods?city=jbd", "/v1/floods?geoformat=geojson", "/v1/reports"] {
        assert_eq!(siaga.get(address).status(), Status::ServiceUnavailable, "{address}");
    }
    // Responses to requests with a credential are never cached.
    assert_eq!(stale_since(&siaga.request(Method::Get, "/v1/cards/fresh-card", "")), None);
}

#[test]
fn a_failed_rendering_keeps_the_last_response() {
    let (siaga, away) = with_failing(&[]);
    let states = || {
        let response = siaga.get("/v1/floods/states");
        (stale_since(&response), response.into_string().unwrap())
    };
    let (_, before) = states();
    let current_at = siaga.now().to_string();
    pass(&siaga, 5);
    assert_eq!(siaga.put("/v1/floods/1", r#"{"state":4}"#).status(), Status::Ok);
    away.data.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(states(), (Some(current_at.clone()), before.clone()));
    }
    away.all(false);
    let (since, after) = states();
    assert_eq!(since, None);
    assert_ne!(after, before);
}

#[test]
fn a_stale_response_is_returned_no_longer_than_configured() {
    for (stale, seconds) in [(None, 3_600), (Some("90s"), 90), (Some("0"), 0)] {
        let settings = stale.map(|stale| ("siaga.limits.stale", stale));
        let (siaga, away) = with_failing(settings.as_slice());
        assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
        away.all(true);
        if seconds > 0 {
            pass(&siaga, seconds);
            assert_eq!(siaga.get("/v1/floods").status(), Status::Ok, "{stale:?}");
            pass(&siaga, 1);
        }
        assert_eq!(siaga.get("/v1/floods").status(), Status::ServiceUnavailable, "{stale:?}");
    }
}

#[test]
fn no_expired_alert_is_returned() {
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

/// Addresses of responses with report 7.
const WITH_REPORT: [&str; 3] = ["/v1/reports", "/v1/reports/7", "/v1/reports?bbox=0,0,10,10"];

/// Asserts that without the store no response has the report or confirms an old copy of it.
fn assert_gone(siaga: &Siaga, tags: &[String]) {
    for (address, tag) in WITH_REPORT.iter().zip(tags) {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::ServiceUnavailable, "{address}");
        let known = siaga.client.get(*address).header(Header::new("If-None-Match", tag.clone())).dispatch();
        assert_eq!(known.status(), Status::ServiceUnavailable, "{address}");
    }
}

fn read(siaga: &Siaga) -> Vec<String> {
    let tag = |address: &&str| {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::Ok, "{address}");
        response.headers().get_one("ETag").unwrap().to_owned()
    };
    WITH_REPORT.iter().map(tag).collect()
}

#[test]
fn a_hidden_report_stays_hidden_while_the_store_is_unreachable() {
    let (siaga, away) = with_failing(&[]);
    let tags = read(&siaga);
    assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
    away.all(true);
    assert_eq!(read(&siaga), tags, "before the moderation they are returned");
    away.all(false);
    assert_eq!(siaga.request(Method::Put, "/v1/reports/7/visibility", HIDE).status(), Status::Ok);
    away.all(true);
    assert_gone(&siaga, &tags);
    assert!(stale_since(&siaga.get("/v1/floods")).is_some(), "it has no reports");
    away.all(false);
    assert_eq!(siaga.get("/v1/reports").status(), Status::Ok);
    away.all(true);
    assert!(stale_since(&siaga.get("/v1/reports")).is_some(), "a read after the moderation is returned");
}

#[test]
fn servers_that_have_read_the_moderation_do_not_return_the_report_either() {
    let (opener, away) = failing();
    let siaga = on_failing(Arc::clone(&opener), &[]);
    let other = on_failing(opener, &[]);
    let tags = read(&other);
    assert_eq!(siaga.request(Method::Put, "/v1/reports/7/visibility", HIDE).status(), Status::Ok);
    let status = || {
        away.all(true);
        let status = other.get("/v1/reports").status();
        away.all(false);
        status
    };
    let is_away = |status: &Status| *status == Status::ServiceUnavailable;
    eventually_blocking("the other server knows", LONG, status, is_away);
    away.all(true);
    assert_gone(&other, &tags);
}

#[test]
fn a_rendering_started_before_the_moderation_is_not_returned_after_it() {
    block_on(async {
        let (client, away, _) = client().await;
        away.slow.store(true, Ordering::SeqCst);
        let reading = tokio::spawn({
            let client = Arc::clone(&client);
            async move { client.get("/v1/reports").dispatch().await.status() }
        });
        away.read.notified().await;
        away.slow.store(false, Ordering::SeqCst);
        let hiding = client.put("/v1/reports/7/visibility").header(key(ADMIN_KEY)).body(HIDE);
        assert_eq!(hiding.dispatch().await.status(), Status::Ok);
        away.resume.notify_one();
        // The read began before the moderation.
        assert_eq!(reading.await.unwrap(), Status::Ok);
        away.all(true);
        assert_eq!(client.get("/v1/reports").dispatch().await.status(), Status::ServiceUnavailable);
    });
}

#[test]
fn a_stream_announces_when_its_states_become_stale_and_current_again() {
    block_on(async {
        let (client, away, clock) = client().await;
        let mut stream = client.get("/v1/changes/stream").dispatch().await;
        read_until(&mut stream, r#""changed":["#).await;
        let certain = clock.now();
        away.all(true);
        clock.set(certain.saturating_add(Duration::from_mins(1)));
        let stale = format!("event:stale\ndata:{{\"stale_since\":\"{certain}\"}}");
        read_until(&mut stream, &stale).await;
        let get_json = async |address: &'static str| {
            let response = client.get(address).dispatch().await;
            (response.status(), response.into_json::<Value>().await.unwrap())
        };
        let (status, sources) = get_json("/v1/sources").await;
        assert_eq!((status, &sources["stale_since"]), (Status::Ok, &json!(certain)));
        let (status, health) = get_json("/health/data").await;
        assert_eq!((status, &health["result"]["stale_since"]), (Status::ServiceUnavailable, &json!(certain)));
        assert_eq!(get_json("/v1/changes").await.0, Status::ServiceUnavailable);

        let mut late = client.get("/v1/changes/stream").dispatch().await;
        let first = read_until(&mut late, &stale).await;
        assert!(first.contains(r#""full":true"#), "its states come first: {first}");

        away.all(false);
        let again = read_until(&mut stream, r#""changed":["#).await;
        assert!(again.contains("event:areas") && again.contains(r#""full":false,"areas":[]"#), "{again}");
        let id = again.split("id:").nth(1).unwrap().lines().next().unwrap();
        let mut resumed = client.get(format!("/v1/changes/stream?since={id}")).dispatch().await;
        let first = read_until(&mut resumed, r#""changed":["#).await;
        assert!(first.contains(r#""full":false,"areas":[]"#), "who comes back learns it, too: {first}");
        let (status, health) = get_json("/health/data").await;
        assert_eq!((status, &health["result"]["stale_since"]), (Status::Ok, &Value::Null));
        assert_eq!(get_json("/v1/sources").await.1["stale_since"], Value::Null);
    });
}

#[test]
fn a_waiting_request_ends_when_the_store_is_lost() {
    block_on(async {
        let (client, away, _) = client().await;
        let cursor = result(&client, "/v1/changes".to_owned()).await["cursor"].clone();
        let address = format!("/v1/changes?wait=30&since={}", cursor.as_str().unwrap());
        // The response has begun, its body waits.
        let waiting = client.get(address).dispatch().await;
        let begun = Instant::now();
        away.all(true);
        let found = waiting.into_json::<Value>().await.unwrap()["result"].clone();
        assert_eq!((&found["full"], &found["cursor"]), (&json!(false), &cursor));
        assert!(begun.elapsed() < Duration::from_secs(25), "before its time is over");
    });
}

#[test]
fn neither_responses_nor_pages_wait_for_a_store_known_to_be_unreachable() {
    let (siaga, away) = with_failing(&[("siaga.limits.timeout", "8s")]);
    assert_eq!(siaga.get("/v1/floods").status(), Status::Ok);
    assert_eq!(siaga.get("/map").status(), Status::Ok);
    away.hangs.store(true, Ordering::SeqCst);
    let stale = || json_of(siaga.get("/v1/sources"))["stale_since"].clone();
    eventually_blocking("the server knows", LONG, stale, Value::is_string);
    for address in ["/v1/floods", "/map?lang=en", "/map?city=jbd&lang=en", "/map?area=5&lang=en", "/?lang=en"]
    {
        let took = (0..3).map(|_| {
            let begun = Instant::now();
            let response = siaga.client.get(address).header(Header::new("Accept", "text/html")).dispatch();
            assert_eq!(response.status(), Status::Ok, "{address}");
            assert!(stale_since(&response).is_some() || address != "/v1/floods");
            begun.elapsed()
        });
        let fastest = took.min().unwrap();
        assert!(fastest < patiently(Duration::from_secs(1)), "{address}: {fastest:?}");
    }
    away.hangs.store(false, Ordering::SeqCst);
    assert_eq!(siaga.get("/v1/reports").status(), Status::Ok, "it is noticed at once that the store is back");
}

#[test]
fn the_map_is_a_page_while_the_store_is_unreachable() {
    let (siaga, away) = with_failing(&[]);
    let page = |address: &'static str| {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::Ok, "{address}");
        (stale_since(&response), response.into_string().unwrap())
    };
    assert_eq!(page("/map?lang=en").0, None);
    let current_at = Some(siaga.now().to_string());
    away.all(true);
    pass(&siaga, 120);

    // A page is cached for two seconds.
    let shown = || page("/map?lang=en");
    let (_, all) = eventually_blocking("it shows its time", LONG, shown, |(since, _)| since.is_some());
    assert!(
        all.contains("cannot read its data now. Shown is the state of <time datetime=\"2016-12-19T16:08:52")
    );
    assert!(all.contains("&quot;cursor&quot;:null"), "the changes are followed from the beginning: {all}");
    // Also for cities that were never requested.
    for (address, areas) in [
        ("/map?lang=en", [true, true]),
        ("/map?lang=en&city=bdg", [false, true]),
        ("/map?lang=en&city=jbd", [true, false]),
    ] {
        let (since, page) = page(address);
        assert_eq!(since, current_at, "{address}");
        assert_eq!(["id=\"a5\"", "id=\"a30\""].map(|area| page.contains(area)), areas, "{address}: {page}");
    }
    away.all(false);
    eventually_blocking("it is current", LONG, shown, |(since, _)| since.is_none());
}

#[test]
fn a_map_without_recent_floods_read_is_not_an_all_clear() {
    let (opener, away) = failing();
    away.all(true);
    let never = on_failing(opener, &[]);
    let (long_ago, away) = with_failing(&[("siaga.limits.stale", "90s")]);
    assert_eq!(long_ago.get("/map").status(), Status::Ok);
    away.all(true);
    pass(&long_ago, 91);
    for siaga in [never, long_ago] {
        let shown = || siaga.get("/map?lang=en").into_string().unwrap();
        let said = "id=\"empty\" data-says=\"away\">The floods cannot be read now";
        eventually_blocking("it says so", LONG, shown, |page| page.contains(said));
    }
}
