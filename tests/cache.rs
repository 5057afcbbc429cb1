//! The answers at hand: never older than the question, and made once for all who ask.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rocket::futures::FutureExt;
use rocket::futures::future::join_all;
use rocket::tokio::sync::Semaphore;
use rocket::tokio::{self, task, time};
use siaga::cache::{Cache, Rendered};
use siaga::conformance::{block_on, fixture};
use siaga::content::{Accepted, Coding, Content};
use siaga::model::{Lasting, ManualClock};
use siaga::stores::{Revision, Versioned};
use siaga::telemetry::Metrics;

/// A service that has answers made, which it numbers.
struct Desk {
    cache: Cache<&'static str, String>,
    clock: ManualClock,
    /// The revision of the data.
    revision: AtomicU64,
    lasting: Lasting,
    made: AtomicU64,
    /// One permit lets one making come to its end.
    gate: Semaphore,
}

const LARGE: usize = 1 << 20;

fn rendered(text: &str) -> Rendered {
    let content = Arc::new(Content::new(text.as_bytes().to_vec()));
    Rendered { media_type: "text/plain".into(), content }
}

impl Desk {
    fn new(size: usize) -> Self {
        Self {
            cache: Cache::new(size, Metrics::default()),
            clock: ManualClock::new(fixture::now()),
            revision: AtomicU64::new(1),
            lasting: Lasting::Always,
            made: AtomicU64::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    /// The same with nothing coming to its end until it is let.
    fn closed() -> Self {
        Self { gate: Semaphore::new(0), ..Self::new(LARGE) }
    }

    fn present(&self) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }

    fn change(&self) {
        self.revision.fetch_add(1, Ordering::SeqCst);
    }

    fn made(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }

    /// What somebody gets who asks now: the revision that was read, and which making it was.
    fn ask(&self, question: &'static str) -> impl Future<Output = Result<String, String>> {
        self.ask_at(question, self.present())
    }

    async fn ask_at(&self, question: &'static str, present: u64) -> Result<String, String> {
        let render = || async {
            let (revision, number) = (self.present(), self.made.fetch_add(1, Ordering::SeqCst) + 1);
            self.gate.acquire().await.unwrap().forget();
            if question == "wrong" {
                return Err(format!("failure {number}"));
            }
            let text = format!("revision {revision}, made {number}");
            Ok(Versioned::at(Revision(revision), rendered(&text)).within(self.lasting))
        };
        let found = self.cache.find(&question, Revision(present), &self.clock, render).await?;
        let form = found.content.form(Accepted::new([]));
        Ok(String::from_utf8(form.bytes.to_vec()).unwrap())
    }
}

/// A long answer, at hand or made.
async fn find_text(cache: &Cache<u8, ()>, question: u8, present: u64, lasting: Lasting) -> Arc<Rendered> {
    let clock = ManualClock::new(fixture::now());
    let text = "banjir ".repeat(1000);
    let render = || async { Ok(Versioned::at(Revision(present), rendered(&text)).within(lasting)) };
    cache.find(&question, Revision(present), &clock, render).await.unwrap()
}

/// How an answer is sent to who accepts gzip.
fn coding(rendered: &Rendered) -> Coding {
    rendered.content.form(Accepted::new(["gzip"])).coding
}

async fn is_made_shorter(rendered: &Rendered) {
    let begun = Instant::now();
    while coding(rendered) == Coding::Identity {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is never made shorter");
        time::sleep(Duration::from_millis(5)).await;
    }
}

/// Lets everything that can go on do so.
async fn settle() {
    for _ in 0..100 {
        task::yield_now().await;
    }
}

#[test]
fn an_answer_is_made_once_and_again_when_its_resource_has_changed() {
    let desk = Desk::new(LARGE);
    block_on(async {
        for _ in 0..3 {
            assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
        }
        assert_eq!(desk.ask("list").await.unwrap(), "revision 1, made 2");
        desk.change();
        assert_eq!(desk.ask("map").await.unwrap(), "revision 2, made 3");
        assert_eq!(desk.ask("list").await.unwrap(), "revision 2, made 4");
        assert_eq!(desk.ask("map").await.unwrap(), "revision 2, made 3");
    });
}

#[test]
fn an_answer_counts_within_its_time_only() {
    let (from, until) = (fixture::now(), fixture::now().after(Duration::from_secs(1)));
    let desk = Desk { lasting: Lasting::Between { from, until }, ..Desk::new(LARGE) };
    block_on(async {
        desk.ask("map").await.unwrap();
        desk.clock.set(until.before(Duration::from_millis(1)));
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
        desk.clock.set(until);
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
        desk.clock.set(from.before(Duration::from_millis(1)));
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 3");
    });
}

#[test]
fn a_thousand_who_ask_at_once_wait_for_one_answer() {
    let desk = Desk::closed();
    block_on(async {
        let opened = async {
            settle().await;
            assert_eq!(desk.made(), 1);
            desk.gate.add_permits(1);
        };
        let asked = join_all((0..1000).map(|_| desk.ask("map")));
        let (answers, ()) = tokio::join!(asked, opened);
        assert!(answers.iter().all(|answer| answer.as_deref() == Ok("revision 1, made 1")));
    });
}

#[test]
fn who_comes_after_a_change_gets_no_answer_that_was_begun_before() {
    let desk = Desk::closed();
    block_on(async {
        let mut early = Box::pin(desk.ask("map"));
        assert!((&mut early).now_or_never().is_none());
        desk.change();
        let mut late = Box::pin(desk.ask("map"));
        assert!((&mut late).now_or_never().is_none());
        assert_eq!(desk.made(), 1, "both wait for one");
        desk.gate.add_permits(2);
        assert_eq!(early.await.unwrap(), "revision 1, made 1");
        assert_eq!(late.await.unwrap(), "revision 2, made 2");
    });
}

#[test]
fn what_was_read_newer_than_expected_is_at_hand_for_both() {
    let desk = Desk::new(LARGE);
    block_on(async {
        // The store said revision 1; another was written before the answer was read.
        desk.change();
        assert_eq!(desk.ask_at("map", 1).await.unwrap(), "revision 2, made 1");
        assert_eq!(desk.ask_at("map", 1).await.unwrap(), "revision 2, made 1");
        assert_eq!(desk.ask_at("map", 2).await.unwrap(), "revision 2, made 1");
    });
}

#[test]
fn a_store_that_is_behind_what_it_says_or_was_set_back_gives_answers_for_nobody_else() {
    let desk = Desk::new(LARGE);
    block_on(async {
        for number in 1..=3 {
            assert_eq!(desk.ask_at("map", 2).await.unwrap(), format!("revision 1, made {number}"));
        }
        desk.revision.store(9, Ordering::SeqCst);
        assert_eq!(desk.ask("map").await.unwrap(), "revision 9, made 4");
        desk.revision.store(5, Ordering::SeqCst);
        assert_eq!(desk.ask("map").await.unwrap(), "revision 5, made 5");
    });
}

#[test]
fn a_failure_is_told_to_those_who_waited_for_it_and_tried_again_by_who_comes_later() {
    let desk = Desk::closed();
    block_on(async {
        let asked = async {
            let answers = join_all((0..100).map(|_| desk.ask("wrong"))).await;
            assert!(answers.iter().all(Result::is_err));
        };
        let opened = async {
            settle().await;
            desk.gate.add_permits(2);
        };
        tokio::join!(asked, opened);
        // The first for whom it was begun, and once for those who came while that was under way.
        assert_eq!(desk.made(), 2);
        desk.gate.add_permits(1);
        assert_eq!(desk.ask("wrong").await, Err("failure 3".to_owned()));
    });
}

#[test]
fn when_who_makes_an_answer_gives_up_another_goes_on() {
    let desk = Desk::closed();
    block_on(async {
        let mut first = Box::pin(desk.ask("map"));
        let mut second = Box::pin(desk.ask("map"));
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        drop(first);
        desk.gate.add_permits(1);
        assert_eq!(second.await.unwrap(), "revision 1, made 2");
    });
}

#[test]
fn a_cache_without_size_has_every_answer_made() {
    let desk = Desk::new(0);
    block_on(async {
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 1");
        assert_eq!(desk.ask("map").await.unwrap(), "revision 1, made 2");
    });
}

#[test]
fn what_was_not_asked_for_the_longest_makes_room() {
    // Each takes its bytes and some more.
    let desk = Desk::new(1_600);
    block_on(async {
        for (question, made) in [("a", 1), ("b", 2), ("a", 1), ("c", 3), ("a", 1), ("d", 4), ("b", 5)] {
            assert!(desk.ask(question).await.unwrap().ends_with(&format!("made {made}")), "{question}");
        }
    });
}

#[test]
fn an_answer_that_stands_for_a_while_is_made_shorter_and_one_that_is_replaced_is_not() {
    block_on(async {
        let cache = Cache::new(LARGE, Metrics::default());
        let find = |present| find_text(&cache, 0, present, Lasting::Always);
        let (replaced, standing) = (find(1).await, find(2).await);
        // Who asks again makes it worth while.
        find(2).await;
        assert_eq!(coding(&standing), Coding::Identity, "nobody waits for it");
        is_made_shorter(&standing).await;
        assert_eq!(coding(&replaced), Coding::Identity);
    });
}

#[test]
fn a_making_that_panics_is_none_for_the_others() {
    block_on(async {
        let cache: Cache<u8, ()> = Cache::new(LARGE, Metrics::default());
        let clock = ManualClock::new(fixture::now());
        let panicking = cache.find(&0, Revision(1), &clock, || async { panic!("as a bug would") });
        assert!(std::panic::AssertUnwindSafe(panicking).catch_unwind().await.is_err());
        let right = || async { Ok(Versioned::at(Revision(1), rendered("right"))) };
        assert!(cache.find(&0, Revision(1), &clock, right).await.is_ok());
        let never = || pending::<Result<Versioned<Rendered>, ()>>();
        assert!(cache.find(&0, Revision(1), &clock, never).await.is_ok(), "it is at hand");
    });
}

#[test]
fn an_answer_that_time_changes_soon_stays_as_it_is() {
    block_on(async {
        let cache = Cache::new(LARGE, Metrics::default());
        let find = |question, lasting| find_text(&cache, question, 1, lasting);
        let asked_twice = async |question, seconds| {
            let lasting = Lasting::step(fixture::now(), Duration::from_secs(seconds));
            find(question, lasting).await;
            find(question, lasting).await
        };
        let second = asked_twice(0, 1).await;
        let hour = asked_twice(1, 3_600).await;
        is_made_shorter(&hour).await;
        // Contents are coded in the order they came.
        assert_eq!(coding(&second), Coding::Identity);
    });
}
