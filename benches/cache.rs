//! Measures a cache hit, and the work that is done once for each rendered response.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use rocket::futures::FutureExt;
use rocket::tokio::runtime::Runtime;
use siaga::folder::{Dataset, FolderRules};
use siaga::formats::topojson::TopoJson;
use siaga::formats::{EncodeContext, Format};
use siaga::internals::{
    AcceptedEncodings, Cache, Content, Metrics, RenderError, RenderTimeouts, RenderedResponse,
};
use siaga::model::{
    AreaSelector, Clock, FloodLayer, FloodState, FloodStatus, Layer, SystemClock, Timestamp, Validity,
};
use siaga::stores::{FloodQuery, Revision, Versioned};

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The body of the flood map.
fn map() -> Vec<u8> {
    let name = std::env::var("SIAGA_DATASET").unwrap_or_else(|_| "demo".to_owned());
    let dataset = Dataset::load(&name, &FolderRules::default(), SystemClock.now()).expect("a data set");
    let areas = Arc::clone(dataset.places.areas());
    let all = (0..areas.len()).map(|position| (position, FloodStatus::NEVER_FLOODED)).collect();
    let context = EncodeContext::new(SystemClock.now(), chrono_tz::Asia::Jakarta, "http://127.0.0.1:8000/v1");
    let mut bytes = Vec::new();
    let layer = Layer::Floods(FloodLayer::new(areas, all));
    TopoJson::default().encode(&layer, &context, &mut bytes).expect("a document");
    bytes
}

fn query(number: usize) -> FloodQuery {
    let selector = AreaSelector { city: Some(format!("city {number}")), region: None };
    FloodQuery { selector, minimum_state: Some(FloodState::Minor) }
}

/// Measures a cache hit among a hundred cached responses.
fn cached(criterion: &mut Criterion, name: &str, validity: Validity) {
    let cache: Cache<FloodQuery, RenderError> =
        Cache::new(1 << 20, RenderTimeouts::for_requests(Duration::from_secs(10)), Metrics::default());
    let runtime = Runtime::new().expect("threads");
    let present = Revision(1);
    let render = || async move {
        let rendered = RenderedResponse::new("application/json", Content::with_tag(b"{}".to_vec()));
        Ok(Versioned::new(present, rendered).within(validity))
    };
    for number in 0..100 {
        let query_key = query(number);
        runtime.block_on(cache.get_or_render(&query_key, present, &SystemClock, render)).expect("a response");
    }
    let query_key = query(7);
    criterion.bench_function(name, |bench| {
        bench.iter(|| {
            black_box(cache.get_or_render(&query_key, present, &SystemClock, render).now_or_never()).is_some()
        });
    });
}

fn cache(criterion: &mut Criterion) {
    cached(criterion, "a cached response", Validity::Always);
    let ever = Validity::Between { from: SystemClock.now(), until: Timestamp::LAST };
    cached(criterion, "a cached response that time could change", ever);
    let accept = "gzip, deflate, br, zstd";
    criterion.bench_function("the codings a browser accepts", |bench| {
        bench.iter(|| AcceptedEncodings::new([black_box(accept)]));
    });

    let map = map();
    println!("the map: {} bytes", map.len());
    criterion.bench_function("the tag of the map", |bench| {
        bench.iter_batched(|| map.clone(), Content::with_tag, BatchSize::LargeInput);
    });
    let mut slow = criterion.benchmark_group("coded");
    slow.sample_size(10).bench_function("the map in all codings", |bench| {
        bench.iter_batched(
            || Content::new(map.clone()),
            |content| content.compress_all(),
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, cache);
criterion_main!(benches);
