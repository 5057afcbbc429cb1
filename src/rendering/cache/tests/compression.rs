//! Responses are compressed fast before they are sent first, and better if they stand for a while.

use std::sync::Arc;
use std::time::Duration;

use crate::content::{Accepted, Coding, Level};
use crate::model::{ManualClock, Validity};
use crate::stores::{Revision, Versioned};
use crate::telemetry::Metrics;
use rocket::futures::FutureExt;
use rocket::futures::future::join_all;

use super::super::{Cache, Failed, Rendered};
use super::{Failure, LARGE, PATIENT, rendered};
use crate::eventually::{LONG, eventually};
use crate::fixture;

/// A long response, cached or rendered.
async fn find_text(
    cache: &Cache<u8, Failure>,
    question: u8,
    present: u64,
    validity: Validity,
) -> Arc<Rendered> {
    let clock = ManualClock::new(fixture::now());
    let render = || async move {
        Ok(Versioned::at(Revision(present), rendered(&"banjir ".repeat(1000))).within(validity))
    };
    cache.find(&question, Revision(present), &clock, render).await.unwrap()
}

/// How a response is sent to a client that accepts gzip.
fn coding(rendered: &Rendered) -> (Coding, Level) {
    let form = rendered.content.form(Accepted::new(["gzip"]));
    (form.coding, form.level)
}

const PLAIN: (Coding, Level) = (Coding::Identity, Level::Best);
const FAST: (Coding, Level) = (Coding::Gzip, Level::Fast);
const BEST: (Coding, Level) = (Coding::Gzip, Level::Best);

async fn is_compressed_best(rendered: &Rendered) {
    let coding = async || coding(rendered);
    eventually("it is compressed at the best level", LONG, coding, |coding| *coding == BEST).await;
}

#[rocket::async_test]
async fn a_response_is_compressed_fast_at_once_and_best_if_it_stands_for_a_while() {
    let cache = Cache::new(LARGE, PATIENT, Metrics::default());
    let find = |present| find_text(&cache, 0, present, Validity::Always);
    let (replaced, standing) = (find(1).await, find(2).await);
    for rendered in [&replaced, &standing] {
        assert_eq!(coding(rendered), PLAIN);
        cache.compress(&0, rendered, Coding::Gzip).await;
        assert_eq!(coding(rendered), FAST);
    }
    // The second request makes it worthwhile.
    find(2).await;
    is_compressed_best(&standing).await;
    assert_eq!(coding(&replaced), FAST);
}

#[rocket::async_test]
async fn a_response_is_compressed_once_for_all_requests_and_counts_in_all_its_forms() {
    let metrics = Metrics::default();
    let cache = Cache::new(LARGE, PATIENT, metrics.clone());
    let cached = || {
        let page = metrics.text().unwrap();
        let bytes = page.lines().find_map(|line| line.strip_prefix("siaga_cache_bytes "));
        bytes.unwrap().parse::<usize>().unwrap()
    };
    let rendered = find_text(&cache, 0, 1, Validity::Always).await;
    let plain = cached();
    // A request that goes away after it has begun.
    cache.compress(&0, &rendered, Coding::Gzip).now_or_never();
    let sent = async || coding(&rendered);
    eventually("it is compressed though its request has gone", LONG, sent, |sent| *sent == FAST).await;
    let first = rendered.content.form(Accepted::new(["gzip"])).bytes;
    join_all((0..100).map(|_| cache.compress(&0, &rendered, Coding::Gzip))).await;
    let same = rendered.content.form(Accepted::new(["gzip"])).bytes;
    assert_eq!(first.as_ptr(), same.as_ptr());
    let expected = plain + first.len();
    eventually("it counts", LONG, async || cached(), |cached| *cached == expected).await;
}

#[rocket::async_test]
async fn a_response_too_large_with_its_forms_leaves_the_cache_and_no_other() {
    // Room for one and a short one, and no form beside them.
    let cache = Cache::new(9_000, PATIENT, Metrics::default());
    let clock = ManualClock::new(fixture::now());
    // Text that compresses, but not to a tenth.
    let long: String = (0..2_000u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761))).collect();
    let texts = ["short".to_owned(), long[..7_300].to_owned()];
    for (question, text) in texts.iter().enumerate() {
        let render = || {
            let text = text.clone();
            async move { Ok::<_, Failed<Failure>>(Versioned::at(Revision(1), rendered(&text))) }
        };
        let found = cache.find(&question, Revision(1), &clock, render).await.unwrap();
        cache.compress(&question, &found, Coding::Gzip).await;
        assert_eq!(coding(&found) == FAST, question == 1);
    }
    eventually("it leaves", LONG, async || cache.last(&1).is_some(), |is_cached| !is_cached).await;
    assert!(cache.last(&0).is_some());
}

#[rocket::async_test]
async fn a_response_that_time_changes_soon_is_not_compressed_at_the_best_level() {
    let cache = Cache::new(LARGE, PATIENT, Metrics::default());
    let find = |question, validity| find_text(&cache, question, 1, validity);
    let asked_twice = async |question, seconds| {
        let validity = Validity::step(fixture::now(), Duration::from_secs(seconds));
        find(question, validity).await;
        find(question, validity).await
    };
    let second = asked_twice(0, 1).await;
    let hour = asked_twice(1, 3_600).await;
    is_compressed_best(&hour).await;
    // Contents are coded in the order they came.
    assert_eq!(coding(&second), PLAIN);
}
