//! Responses are compressed on first use, once for all requests.

use crate::http::content::{AcceptedEncodings, ContentEncoding};
use crate::model::ManualClock;
use crate::stores::{Revision, Versioned};
use crate::telemetry::Metrics;
use rocket::futures::FutureExt;
use rocket::futures::future::join_all;

use super::super::{Cache, RenderFailure, RenderedResponse};
use super::{Failure, LARGE, PATIENT, rendered};
use crate::eventually::{LONG, eventually};
use crate::fixture;

fn coding(rendered: &RenderedResponse) -> ContentEncoding {
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
    let render = || async {
        Ok::<_, RenderFailure<Failure>>(Versioned::new(Revision(1), rendered(&"banjir ".repeat(1000))))
    };
    let rendered = cache.get_or_render(&0, Revision(1), &clock, render).await.unwrap();
    let plain = cached();
    cache.compress(&0, &rendered, ContentEncoding::Gzip).now_or_never();
    let encoding = async || coding(&rendered);
    eventually("it is compressed though its request has gone", LONG, encoding, |encoding| {
        *encoding == ContentEncoding::Gzip
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
    // The cache has room for both responses, but not for a compressed body.
    let cache = Cache::new(9_000, PATIENT, Metrics::default());
    let clock = ManualClock::new(fixture::now());
    let long: String = (0..2_000u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761))).collect();
    let texts = ["short".to_owned(), long[..7_300].to_owned()];
    for (key, text) in texts.iter().enumerate() {
        let render = || {
            let text = text.clone();
            async move { Ok::<_, RenderFailure<Failure>>(Versioned::new(Revision(1), rendered(&text))) }
        };
        let response = cache.get_or_render(&key, Revision(1), &clock, render).await.unwrap();
        cache.compress(&key, &response, ContentEncoding::Gzip).await;
        assert_eq!(coding(&response) == ContentEncoding::Gzip, key == 1);
    }
    eventually("it leaves", LONG, async || cache.last_known(&1).is_some(), |is_cached| !is_cached).await;
    assert!(cache.last_known(&0).is_some());
}
