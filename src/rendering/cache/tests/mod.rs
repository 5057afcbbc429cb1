//! The response cache: no response is older than its request, and each is rendered once for all requests.

mod compression;

use std::future::{Future, pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use super::{Cache, RenderError, RenderFailure, RenderTimeouts, RenderedResponse};
use crate::http::content::{AcceptedEncodings, Content};
use crate::model::{ManualClock, Validity};
use crate::stores::{Revision, Versioned};
use crate::telemetry::Metrics;
use rocket::futures::FutureExt;
use rocket::futures::future::{LocalBoxFuture, join_all};
use rocket::tokio::sync::Semaphore;
use rocket::tokio::time;

use crate::eventually::{LONG, eventually};
use crate::fixture;

struct Service {
    cache: Cache<&'static str, Failure>,
    clock: ManualClock,
    validity: Validity,
    metrics: Metrics,
    renderer: Arc<Renderer>,
}

struct Renderer {
    revision: AtomicU64,
    started: AtomicU64,
    stopped: AtomicU64,
    /// Each rendering takes a permit of this semaphore before it ends.
    gate: Semaphore,
}

#[derive(Clone, Debug, PartialEq)]
struct Failure(String);

impl From<RenderError> for Failure {
    fn from(unfinished: RenderError) -> Self {
        Self(unfinished.to_string())
    }
}

struct CancelCounter(Option<Arc<Renderer>>);

impl Drop for CancelCounter {
    fn drop(&mut self) {
        if let Some(renderer) = self.0.take() {
            renderer.stopped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

const LARGE: usize = 1 << 20;
const PATIENT: RenderTimeouts =
    RenderTimeouts { deadline: Duration::from_mins(1), abandon_after: Duration::from_mins(1) };

fn rendered(text: &str) -> RenderedResponse {
    RenderedResponse::new("text/plain", Content::new(text.as_bytes().to_vec()))
}

impl Renderer {
    async fn render(
        self: Arc<Self>,
        key: &'static str,
    ) -> Result<Versioned<RenderedResponse>, RenderFailure<Failure>> {
        let revision = self.revision.load(Ordering::SeqCst);
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let mut stopped = CancelCounter(Some(Arc::clone(&self)));
        self.gate.acquire().await.unwrap().forget();
        stopped.0 = None;
        if key == "wrong" {
            return Err(Failure(format!("failure {number}")).into());
        }
        if key == "dear" && number == 1 {
            return Err(RenderFailure::ForInitiator(Failure("too dear".to_owned())));
        }
        Ok(Versioned::new(Revision(revision), rendered(&format!("revision {revision}, made {number}"))))
    }
}

impl Service {
    fn new(size: usize) -> Self {
        Self::with(size, PATIENT, Semaphore::MAX_PERMITS)
    }

    /// Creates a service in which no rendering ends before `open`.
    fn closed() -> Self {
        Self::with(LARGE, PATIENT, 0)
    }

    fn with(size: usize, patience: RenderTimeouts, permits: usize) -> Self {
        let metrics = Metrics::default();
        Self {
            cache: Cache::new(size, patience, metrics.clone()),
            clock: ManualClock::new(fixture::now()),
            validity: Validity::Always,
            metrics,
            renderer: Arc::new(Renderer {
                revision: AtomicU64::new(1),
                started: AtomicU64::new(0),
                stopped: AtomicU64::new(0),
                gate: Semaphore::new(permits),
            }),
        }
    }

    fn set(&self, revision: u64) {
        self.renderer.revision.store(revision, Ordering::SeqCst);
    }

    fn change(&self) {
        self.renderer.revision.fetch_add(1, Ordering::SeqCst);
    }

    fn open(&self, renderings: usize) {
        self.renderer.gate.add_permits(renderings);
    }

    fn started(&self) -> u64 {
        self.renderer.started.load(Ordering::SeqCst)
    }

    async fn has_begun(&self, renderings: u64) {
        eventually("renderings begin", LONG, async || self.started(), |started| *started == renderings).await;
    }

    fn get(&self, key: &'static str) -> impl Future<Output = Result<String, Failure>> {
        self.get_at(key, self.renderer.revision.load(Ordering::SeqCst))
    }

    async fn waiting(&self, key: &'static str) -> LocalBoxFuture<'_, Result<String, Failure>> {
        let mut request = self.get(key).boxed_local();
        let ended = poll_fn(|context| Poll::Ready(request.poll_unpin(context).is_ready())).await;
        assert!(!ended, "it has what it waits for");
        request
    }

    async fn get_at(&self, key: &'static str, present: u64) -> Result<String, Failure> {
        let render = || {
            let (renderer, validity) = (Arc::clone(&self.renderer), self.validity);
            async move { Ok(renderer.render(key).await?.within(validity)) }
        };
        let response = self.cache.get_or_render(&key, Revision(present), &self.clock, render).await?;
        let form = response.content.representation(AcceptedEncodings::new([]));
        Ok(String::from_utf8(form.bytes.to_vec()).unwrap())
    }

    fn counted(&self, name: &str) -> u64 {
        let page = self.metrics.text().unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("_total "));
        line.unwrap().parse().unwrap()
    }
}

#[rocket::async_test]
async fn a_response_is_rendered_once_and_again_when_its_resource_has_changed() {
    let service = Service::new(LARGE);
    for _ in 0..3 {
        assert_eq!(service.get("map").await.unwrap(), "revision 1, made 1");
    }
    assert_eq!(service.get("list").await.unwrap(), "revision 1, made 2");
    service.change();
    assert_eq!(service.get("map").await.unwrap(), "revision 2, made 3");
    assert_eq!(service.get("list").await.unwrap(), "revision 2, made 4");
    assert_eq!(service.get("map").await.unwrap(), "revision 2, made 3");
}

#[rocket::async_test]
async fn a_response_is_reused_within_its_validity_only() {
    let (from, until) = (fixture::now(), fixture::now().saturating_add(Duration::from_secs(1)));
    let service = Service { validity: Validity::Between { from, until }, ..Service::new(LARGE) };
    service.get("map").await.unwrap();
    service.clock.set(until.saturating_sub(Duration::from_millis(1)));
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 1");
    service.clock.set(until);
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 2");
    service.clock.set(from.saturating_sub(Duration::from_millis(1)));
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 3");
}

#[rocket::async_test]
async fn a_thousand_concurrent_requests_share_one_rendering() {
    let service = Service::closed();
    let requests = join_all((0..1000).map(|_| service.waiting("map"))).await;
    service.has_begun(1).await;
    service.open(1);
    let responses = join_all(requests).await;
    assert!(responses.iter().all(|response| response.as_deref() == Ok("revision 1, made 1")));
    assert_eq!(service.started(), 1);
}

#[rocket::async_test]
async fn a_request_after_a_change_gets_no_response_whose_rendering_started_before() {
    let service = Service::closed();
    let early = service.waiting("map").await;
    service.has_begun(1).await;
    service.change();
    let late = service.waiting("map").await;
    service.open(1);
    assert_eq!(early.await.unwrap(), "revision 1, made 1");
    service.open(1);
    assert_eq!(late.await.unwrap(), "revision 2, made 2");
}

#[rocket::async_test]
async fn a_response_newer_than_the_revision_found_is_reused_for_both_revisions() {
    let service = Service::new(LARGE);
    // The data changes between reading the revision and rendering.
    service.change();
    assert_eq!(service.get_at("map", 1).await.unwrap(), "revision 2, made 1");
    assert_eq!(service.get_at("map", 1).await.unwrap(), "revision 2, made 1");
    assert_eq!(service.get_at("map", 2).await.unwrap(), "revision 2, made 1");
}

#[rocket::async_test]
async fn a_response_older_than_the_revision_found_is_not_reused() {
    let service = Service::new(LARGE);
    for number in 1..=3 {
        assert_eq!(service.get_at("map", 2).await.unwrap(), format!("revision 1, made {number}"));
    }
    service.set(9);
    assert_eq!(service.get("map").await.unwrap(), "revision 9, made 4");
    service.set(5);
    assert_eq!(service.get("map").await.unwrap(), "revision 5, made 5");
}

#[rocket::async_test]
async fn an_error_fails_the_waiting_requests_and_a_later_request_retries() {
    let service = Service::closed();
    let requests = join_all((0..100).map(|_| service.waiting("wrong"))).await;
    service.open(2);
    assert!(join_all(requests).await.iter().all(Result::is_err));
    // The first request starts one rendering; all requests that joined it share a second one.
    assert_eq!(service.started(), 2);
    service.open(1);
    assert_eq!(service.get("wrong").await, Err(Failure("failure 3".to_owned())));
}

#[rocket::async_test]
async fn an_error_of_the_initiator_makes_other_waiting_requests_start_another_rendering() {
    let service = Service::closed();
    let first = service.waiting("dear").await;
    service.has_begun(1).await;
    let second = service.waiting("dear").await;
    service.open(2);
    assert_eq!(first.await, Err(Failure("too dear".to_owned())));
    assert_eq!(second.await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn the_last_response_survives_a_failed_rendering_with_the_time_it_was_current() {
    let service = Service::new(LARGE);
    let later = |seconds| fixture::now().saturating_add(Duration::from_secs(seconds));
    service.get("map").await.unwrap();
    service.clock.set(later(5));
    service.get("map").await.unwrap();
    service.change();
    service.clock.set(later(9));
    let failing = || async { Err(Failure("it is away".to_owned()).into()) };
    service.cache.get_or_render(&"map", Revision(2), &service.clock, failing).await.unwrap_err();
    let last = service.cache.last_known(&"map").unwrap();
    assert_eq!((last.started_at, last.current_at), (fixture::now(), later(5)));
    assert!(service.cache.get_cached(&"map", Revision(2), &service.clock).is_none());
    assert!(service.cache.get_cached(&"map", Revision(1), &service.clock).is_some());
    assert!(service.cache.last_known(&"list").is_none());
}

#[rocket::async_test]
async fn a_rendering_continues_when_its_request_is_dropped_and_the_next_request_uses_it() {
    let service = Service::closed();
    let first = service.waiting("map").await;
    service.has_begun(1).await;
    assert_eq!(service.counted("siaga_cache_misses"), 1, "it is counted when it starts");
    drop(first);
    let second = service.waiting("map").await;
    service.open(1);
    assert_eq!(second.await.unwrap(), "revision 1, made 1");
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 1");
    assert_eq!(service.counted("siaga_renderings_cancelled"), 0);
}

#[rocket::async_test]
async fn an_abandoned_rendering_is_cancelled_and_the_next_request_starts_another() {
    for size in [LARGE, 0] {
        let patience = RenderTimeouts { abandon_after: Duration::from_millis(30), ..PATIENT };
        let service = Service::with(size, patience, 0);
        let mut first = service.waiting("map").await;
        service.has_begun(1).await;
        let waited = time::timeout(Duration::from_millis(200), &mut first).await;
        assert!(waited.is_err() && service.renderer.stopped.load(Ordering::SeqCst) == 0, "it is waited for");
        drop(first);
        let stopped = async || service.renderer.stopped.load(Ordering::SeqCst);
        eventually("it is stopped", LONG, stopped, |stopped| *stopped == 1).await;
        assert_eq!(service.counted("siaga_renderings_cancelled"), 1);
        service.open(1);
        assert_eq!(service.get("map").await.unwrap(), "revision 1, made 2");
    }
}

#[rocket::async_test]
async fn a_rendering_past_its_deadline_fails_for_waiting_requests() {
    let service = Service::with(LARGE, RenderTimeouts { deadline: Duration::from_millis(30), ..PATIENT }, 0);
    assert_eq!(service.get("map").await, Err(RenderError::TimedOut.into()));
    assert_eq!(service.renderer.stopped.load(Ordering::SeqCst), 1);
    service.open(1);
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn a_cache_of_size_zero_renders_every_response() {
    let service = Service::new(0);
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 1");
    assert_eq!(service.get("map").await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn a_cache_of_size_zero_renders_once_for_a_request_that_fails() {
    let service = Service::new(0);
    let failed = time::timeout(LONG, service.get("wrong")).await.expect("the request ends");
    assert_eq!(failed, Err(Failure("failure 1".to_owned())));
}

#[rocket::async_test]
async fn the_cache_never_exceeds_its_size_for_any_number_of_keys() {
    let (clock, metrics) = (ManualClock::new(fixture::now()), Metrics::default());
    let cache: Cache<u32, Failure> = Cache::new(10_000, PATIENT, metrics.clone());
    let render = || async { Ok(Versioned::new(Revision(1), rendered(&"x".repeat(1_000)))) };
    for key in 0..100 {
        cache.get_or_render(&key, Revision(1), &clock, render).await.unwrap();
    }
    let page = metrics.text().unwrap();
    let bytes = page.lines().find_map(|line| line.strip_prefix("siaga_cache_bytes ")).unwrap();
    assert!(bytes.parse::<usize>().unwrap() <= 10_000, "{bytes}");
    assert!(cache.last_known(&0).is_none() && cache.last_known(&99).is_some());
}

#[rocket::async_test]
async fn a_rendering_that_panics_fails_and_the_next_does_not() {
    let cache: Cache<u8, Failure> = Cache::new(LARGE, PATIENT, Metrics::default());
    let clock = ManualClock::new(fixture::now());
    let panicking = cache.get_or_render(&0, Revision(1), &clock, || async { panic!("as a bug would") });
    assert_eq!(panicking.await.unwrap_err(), RenderError::Panicked.into());
    let right = || async { Ok(Versioned::new(Revision(1), rendered("right"))) };
    assert!(cache.get_or_render(&0, Revision(1), &clock, right).await.is_ok());
    let never = || pending::<Result<Versioned<RenderedResponse>, RenderFailure<Failure>>>();
    assert!(cache.get_or_render(&0, Revision(1), &clock, never).await.is_ok(), "it is cached");
}
