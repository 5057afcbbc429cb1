//! The response cache: never older than the question, and rendered once for all who ask.

mod compression;

use std::future::{Future, pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use super::{Cache, Failed, Patience, Rendered, Unfinished};
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

/// A service that has responses rendered, which it numbers.
struct Desk {
    cache: Cache<&'static str, Failure>,
    clock: ManualClock,
    validity: Validity,
    metrics: Metrics,
    renderer: Arc<Renderer>,
}

struct Renderer {
    /// The revision of the data.
    revision: AtomicU64,
    started: AtomicU64,
    /// How many renderings were stopped before their end.
    stopped: AtomicU64,
    /// One permit lets one rendering come to its end.
    gate: Semaphore,
}

#[derive(Clone, Debug, PartialEq)]
struct Failure(String);

impl From<Unfinished> for Failure {
    fn from(unfinished: Unfinished) -> Self {
        Self(unfinished.to_string())
    }
}

/// Counts a rendering that is dropped before its end.
struct Stopped(Option<Arc<Renderer>>);

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(renderer) = self.0.take() {
            renderer.stopped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

const LARGE: usize = 1 << 20;
/// So long that nothing is stopped.
const PATIENT: Patience = Patience { deadline: Duration::from_mins(1), unwaited: Duration::from_mins(1) };

fn rendered(text: &str) -> Rendered {
    Rendered::new("text/plain", Content::new(text.as_bytes().to_vec()))
}

impl Renderer {
    async fn render(self: Arc<Self>, question: &'static str) -> Result<Versioned<Rendered>, Failed<Failure>> {
        let revision = self.revision.load(Ordering::SeqCst);
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let mut stopped = Stopped(Some(Arc::clone(&self)));
        self.gate.acquire().await.unwrap().forget();
        stopped.0 = None;
        if question == "wrong" {
            return Err(Failure(format!("failure {number}")).into());
        }
        if question == "dear" && number == 1 {
            return Err(Failed::ForStarter(Failure("too dear".to_owned())));
        }
        Ok(Versioned::at(Revision(revision), rendered(&format!("revision {revision}, made {number}"))))
    }
}

impl Desk {
    fn new(size: usize) -> Self {
        Self::with(size, PATIENT, Semaphore::MAX_PERMITS)
    }

    /// The same with nothing coming to its end until it is let.
    fn closed() -> Self {
        Self::with(LARGE, PATIENT, 0)
    }

    fn with(size: usize, patience: Patience, permits: usize) -> Self {
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

    fn made(&self) -> u64 {
        self.renderer.started.load(Ordering::SeqCst)
    }

    /// Waits until so many renderings have begun.
    async fn has_begun(&self, renderings: u64) {
        eventually("renderings begin", LONG, async || self.made(), |made| *made == renderings).await;
    }

    /// What somebody gets who asks now: the revision that was read, and which rendering it was.
    fn ask(&self, question: &'static str) -> impl Future<Output = Result<String, Failure>> {
        self.ask_at(question, self.renderer.revision.load(Ordering::SeqCst))
    }

    /// Asks, and begins to wait.
    async fn waiting(&self, question: &'static str) -> LocalBoxFuture<'_, Result<String, Failure>> {
        let mut request = self.ask(question).boxed_local();
        let ended = poll_fn(|context| Poll::Ready(request.poll_unpin(context).is_ready())).await;
        assert!(!ended, "it has what it waits for");
        request
    }

    async fn ask_at(&self, question: &'static str, present: u64) -> Result<String, Failure> {
        let render = || {
            let (renderer, validity) = (Arc::clone(&self.renderer), self.validity);
            async move { Ok(renderer.render(question).await?.within(validity)) }
        };
        let found = self.cache.find(&question, Revision(present), &self.clock, render).await?;
        let form = found.content.representation(AcceptedEncodings::new([]));
        Ok(String::from_utf8(form.bytes.to_vec()).unwrap())
    }

    fn counted(&self, name: &str) -> u64 {
        let page = self.metrics.text().unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("_total "));
        line.unwrap().parse().unwrap()
    }
}

#[rocket::async_test]
async fn an_answer_is_made_once_and_again_when_its_resource_has_changed() {
    let desk = Desk::new(LARGE);
    for _ in 0..3 {
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
    }
    assert_eq!(desk.ask("list").await.unwrap(), "revision 1, made 2");
    desk.change();
    assert_eq!(desk.ask("map").await.unwrap(), "revision 2, made 3");
    assert_eq!(desk.ask("list").await.unwrap(), "revision 2, made 4");
    assert_eq!(desk.ask("map").await.unwrap(), "revision 2, made 3");
}

#[rocket::async_test]
async fn an_answer_counts_within_its_time_only() {
    let (from, until) = (fixture::now(), fixture::now().after(Duration::from_secs(1)));
    let desk = Desk { validity: Validity::Between { from, until }, ..Desk::new(LARGE) };
    desk.ask("map").await.unwrap();
    desk.clock.set(until.before(Duration::from_millis(1)));
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
    desk.clock.set(until);
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
    desk.clock.set(from.before(Duration::from_millis(1)));
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 3");
}

#[rocket::async_test]
async fn a_thousand_who_ask_at_once_wait_for_one_rendering() {
    let desk = Desk::closed();
    let asked = join_all((0..1000).map(|_| desk.waiting("map"))).await;
    desk.has_begun(1).await;
    desk.open(1);
    let answers = join_all(asked).await;
    assert!(answers.iter().all(|answer| answer.as_deref() == Ok("revision 1, made 1")));
    assert_eq!(desk.made(), 1);
}

#[rocket::async_test]
async fn who_comes_after_a_change_gets_no_response_whose_rendering_began_before() {
    let desk = Desk::closed();
    let early = desk.waiting("map").await;
    desk.has_begun(1).await;
    desk.change();
    let late = desk.waiting("map").await;
    desk.open(1);
    assert_eq!(early.await.unwrap(), "revision 1, made 1");
    desk.open(1);
    assert_eq!(late.await.unwrap(), "revision 2, made 2");
}

#[rocket::async_test]
async fn what_was_read_newer_than_expected_is_at_hand_for_both() {
    let desk = Desk::new(LARGE);
    // The store said revision 1; another was written before the answer was read.
    desk.change();
    assert_eq!(desk.ask_at("map", 1).await.unwrap(), "revision 2, made 1");
    assert_eq!(desk.ask_at("map", 1).await.unwrap(), "revision 2, made 1");
    assert_eq!(desk.ask_at("map", 2).await.unwrap(), "revision 2, made 1");
}

#[rocket::async_test]
async fn a_store_that_is_behind_what_it_says_or_was_set_back_gives_answers_for_nobody_else() {
    let desk = Desk::new(LARGE);
    for number in 1..=3 {
        assert_eq!(desk.ask_at("map", 2).await.unwrap(), format!("revision 1, made {number}"));
    }
    desk.set(9);
    assert_eq!(desk.ask("map").await.unwrap(), "revision 9, made 4");
    desk.set(5);
    assert_eq!(desk.ask("map").await.unwrap(), "revision 5, made 5");
}

#[rocket::async_test]
async fn a_failure_is_told_to_those_who_waited_for_it_and_tried_again_by_who_comes_later() {
    let desk = Desk::closed();
    let asked = join_all((0..100).map(|_| desk.waiting("wrong"))).await;
    desk.open(2);
    assert!(join_all(asked).await.iter().all(Result::is_err));
    // The one it was started for, and once for those who came while that was under way.
    assert_eq!(desk.made(), 2);
    desk.open(1);
    assert_eq!(desk.ask("wrong").await, Err(Failure("failure 3".to_owned())));
}

#[rocket::async_test]
async fn a_failure_that_concerns_the_request_that_started_the_rendering_has_others_start_another() {
    let desk = Desk::closed();
    let first = desk.waiting("dear").await;
    desk.has_begun(1).await;
    let second = desk.waiting("dear").await;
    desk.open(2);
    assert_eq!(first.await, Err(Failure("too dear".to_owned())));
    assert_eq!(second.await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn the_last_response_stays_when_another_rendering_fails_and_tells_when_it_was_current() {
    let desk = Desk::new(LARGE);
    let later = |seconds| fixture::now().after(Duration::from_secs(seconds));
    desk.ask("map").await.unwrap();
    desk.clock.set(later(5));
    desk.ask("map").await.unwrap();
    desk.change();
    desk.clock.set(later(9));
    let failing = || async { Err(Failure("it is away".to_owned()).into()) };
    desk.cache.find(&"map", Revision(2), &desk.clock, failing).await.unwrap_err();
    let last = desk.cache.last(&"map").unwrap();
    assert_eq!((last.begun, last.current_at), (fixture::now(), later(5)));
    assert!(desk.cache.cached(&"map", Revision(2), &desk.clock).is_none());
    assert!(desk.cache.cached(&"map", Revision(1), &desk.clock).is_some());
    assert!(desk.cache.last(&"list").is_none());
}

#[rocket::async_test]
async fn a_rendering_goes_on_when_its_request_goes_away_and_the_next_gets_what_it_made() {
    let desk = Desk::closed();
    let first = desk.waiting("map").await;
    desk.has_begun(1).await;
    assert_eq!(desk.counted("siaga_cache_misses"), 1, "it is counted when it starts");
    drop(first);
    let second = desk.waiting("map").await;
    desk.open(1);
    assert_eq!(second.await.unwrap(), "revision 1, made 1");
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
    assert_eq!(desk.counted("siaga_renderings_cancelled"), 0);
}

#[rocket::async_test]
async fn a_rendering_nobody_waits_for_is_stopped_after_a_while_and_the_next_request_starts_another() {
    for size in [LARGE, 0] {
        let patience = Patience { unwaited: Duration::from_millis(30), ..PATIENT };
        let desk = Desk::with(size, patience, 0);
        let mut first = desk.waiting("map").await;
        desk.has_begun(1).await;
        let waited = time::timeout(Duration::from_millis(200), &mut first).await;
        assert!(waited.is_err() && desk.renderer.stopped.load(Ordering::SeqCst) == 0, "it is waited for");
        drop(first);
        let stopped = async || desk.renderer.stopped.load(Ordering::SeqCst);
        eventually("it is stopped", LONG, stopped, |stopped| *stopped == 1).await;
        assert_eq!(desk.counted("siaga_renderings_cancelled"), 1);
        desk.open(1);
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
    }
}

#[rocket::async_test]
async fn a_rendering_that_takes_too_long_fails_for_those_who_wait() {
    let desk = Desk::with(LARGE, Patience { deadline: Duration::from_millis(30), ..PATIENT }, 0);
    assert_eq!(desk.ask("map").await, Err(Unfinished::Late.into()));
    assert_eq!(desk.renderer.stopped.load(Ordering::SeqCst), 1);
    desk.open(1);
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn a_cache_without_size_has_every_answer_made() {
    let desk = Desk::new(0);
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
    assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
}

#[rocket::async_test]
async fn a_cache_without_size_renders_once_for_a_request_that_fails() {
    let desk = Desk::new(0);
    let failed = time::timeout(LONG, desk.ask("wrong")).await.expect("the request ends");
    assert_eq!(failed, Err(Failure("failure 1".to_owned())));
}

#[rocket::async_test]
async fn however_many_questions_there_are_the_cache_takes_no_more_than_its_size() {
    let (clock, metrics) = (ManualClock::new(fixture::now()), Metrics::default());
    let cache: Cache<u32, Failure> = Cache::new(10_000, PATIENT, metrics.clone());
    let render = || async { Ok(Versioned::at(Revision(1), rendered(&"x".repeat(1_000)))) };
    for question in 0..100 {
        cache.find(&question, Revision(1), &clock, render).await.unwrap();
    }
    let page = metrics.text().unwrap();
    let bytes = page.lines().find_map(|line| line.strip_prefix("siaga_cache_bytes ")).unwrap();
    assert!(bytes.parse::<usize>().unwrap() <= 10_000, "{bytes}");
    assert!(cache.last(&0).is_none() && cache.last(&99).is_some());
}

#[rocket::async_test]
async fn a_rendering_that_panics_fails_and_the_next_does_not() {
    let cache: Cache<u8, Failure> = Cache::new(LARGE, PATIENT, Metrics::default());
    let clock = ManualClock::new(fixture::now());
    let panicking = cache.find(&0, Revision(1), &clock, || async { panic!("as a bug would") });
    assert_eq!(panicking.await.unwrap_err(), Unfinished::Panicked.into());
    let right = || async { Ok(Versioned::at(Revision(1), rendered("right"))) };
    assert!(cache.find(&0, Revision(1), &clock, right).await.is_ok());
    let never = || pending::<Result<Versioned<Rendered>, Failed<Failure>>>();
    assert!(cache.find(&0, Revision(1), &clock, never).await.is_ok(), "it is cached");
}
