//! Responses are compressed when a client first needs it, once for all.

use crate::http::content::{AcceptedEncodings, ContentEncoding};
use crate::model::ManualClock;
use crate::stores::{Revision, Versioned};
use crate::telemetry::Metrics;
use rocket::futures::FutureExt;
use rocket::futures::future::join_all;

use super::super::{Cache, Failed, Rendered};
use super::{Failure, LARGE, PATIENT, rendered};
use crate::eventually::{LONG, eventually};
use crate::fixture;

/// How a response is sent to a client that accepts gzip.
fn coding(rendered: &Rendered) -> ContentEncoding {
    rendered.content.representation(AcceptedEncodings::new(["gzip"])).encoding
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
    let clock = ManualClock::new(fixture::now());
    let render =
        || async { Ok::<_, Failed<Failure>>(Versioned::at(Revision(1), rendered(&"banjir ".repeat(1000)))) };
    let rendered = cache.find(&0, Revision(1), &clock, render).await.unwrap();
    let plain = cached();
    // A request that goes away after it has begun.
    cache.compress(&0, &rendered, ContentEncoding::Gzip).now_or_never();
    let sent = async || coding(&rendered);
    eventually("it is compressed though its request has gone", LONG, sent, |sent| {
        *sent == ContentEncoding::Gzip
    })
    .await;
    let first = rendered.content.representation(AcceptedEncodings::new(["gzip"])).bytes;
    join_all((0..100).map(|_| cache.compress(&0, &rendered, ContentEncoding::Gzip))).await;
    let same = rendered.content.representation(AcceptedEncodings::new(["gzip"])).bytes;
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
        cache.compress(&question, &found, ContentEncoding::Gzip).await;
        assert_eq!(coding(&found) == ContentEncoding::Gzip, question == 1);
    }
    eventually("it leaves", LONG, async || cache.last(&1).is_some(), |is_cached| !is_cached).await;
    assert!(cache.last(&0).is_some());
}
