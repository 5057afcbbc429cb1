//! Measures the feed of alerts on the memory store with 500 areas in force: rebuilding it from a log of 10,000 and of 1,000,000
//! changes, and writing one message. Prints how large the feed is.
//!
//! `SIAGA_DATASET=folder` uses the areas of a folder instead of the demo's.

use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::GzEncoder;
use mimalloc::MiMalloc;
use rocket::tokio::runtime::Runtime;
use siaga::folder::{Dataset, FolderRules};
use siaga::formats::alerts::{Atom, Notices, Options};
use siaga::formats::{EncodeContext, Format, cap};
use siaga::model::alerts::{Issuer, Status};
use siaga::model::{
    Actor, AlertLayer, Clock, FloodChange, FloodState, Layer, ManualClock, SystemClock, Timestamp,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{AlertQuery, FloodQuery, LayerQuery};

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many areas are flooded.
const FLOODED: usize = 500;

/// Makes a store with a flood of the last hours in 500 areas, and `older` changes of the year before.
fn store(older: u32, now: Timestamp) -> MemoryStore {
    let dataset = std::env::var("SIAGA_DATASET").unwrap_or_else(|_| "demo".to_owned());
    let mut dataset = Dataset::load(&dataset, &FolderRules::default(), now).expect("a data set");
    let areas: Vec<_> = dataset.places.areas().iter().map(|area| area.id).collect();
    let change = |number: usize, at: Timestamp, state: Option<FloodState>| FloodChange {
        area: areas[number % areas.len()],
        state,
        at,
        received: at,
        by: Actor { subject: "bench".to_owned(), username: None },
    };
    let year = Duration::from_hours(24 * 365);
    let begun = now.saturating_sub(Duration::from_hours(4));
    let before = begun.saturating_sub(Duration::from_hours(72)).saturating_sub(year);
    let states = FloodState::ALL.map(Some).into_iter().chain([None]).cycle();
    let past = (0..older).zip(states.clone());
    let past = past.map(|(number, state)| {
        change(number as usize, before.saturating_add(year / older.max(1) * number), state)
    });
    let step = Duration::from_hours(4) / (2 * FLOODED as u32);
    let flood = (0..2 * FLOODED).zip(states.flatten().map(Some));
    let flood = flood
        .map(|(number, state)| change(number % FLOODED, begun.saturating_add(step * number as u32), state));
    dataset.flood_log = past.chain(flood).collect();
    MemoryStore::new(dataset, Arc::new(ManualClock::new(now)))
}

fn context(now: Timestamp) -> EncodeContext {
    EncodeContext::new(now, chrono_tz::Asia::Jakarta, "https://siaga.example.org/v1")
}

/// Reads the messages in force from the store, and writes the feed.
fn feed(runtime: &Runtime, store: &MemoryStore, format: &dyn Format, now: Timestamp) -> (Layer, Vec<u8>) {
    let query = LayerQuery::Alerts(AlertQuery::InForce(FloodQuery::default()), false);
    let layer = runtime.block_on(query.run(store, now)).expect("the store is in memory").value;
    let Layer::Alerts(layer) = layer else { unreachable!("the query asks for alerts") };
    let issuer = Issuer::new(None, "siaga.example.org", Status::Actual);
    let layer = Layer::Alerts(layer.issued_by(Arc::new(issuer)));
    let mut out = Vec::new();
    format.encode(&layer, &context(now), &mut out).expect("a feed");
    (layer, out)
}

fn alerts(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let now = SystemClock.now();
    let format = Atom::new(Notices::new(Options::default(), cap::Options::default()));
    for older in [10_000, 1_000_000] {
        let store = store(older, now);
        let (layer, bytes) = feed(&runtime, &store, &format, now);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::new(6));
        gzip.write_all(&bytes).expect("memory");
        let gzip = gzip.finish().expect("memory").len();
        println!("{} messages: {} bytes, {gzip} with gzip -6", layer.len(), bytes.len());
        criterion.bench_function(&format!("feed/{older}"), |bencher| {
            bencher.iter(|| black_box(feed(&runtime, &store, &format, now)));
        });
        if older == 10_000 {
            message(criterion, &format, &layer, now);
        }
    }
}

fn message(criterion: &mut Criterion, format: &Atom, layer: &Layer, now: Timestamp) {
    let Layer::Alerts(alerts) = layer else { return };
    let messages = alerts.features().map(|feature| (feature.position, feature.message.clone()));
    let longest = messages.max_by_key(|(_, message)| message.references.len()).expect("500 of them");
    let layer = AlertLayer::new(Arc::clone(alerts.areas()), vec![longest]);
    let issuer = Issuer::new(None, "siaga.example.org", Status::Actual);
    let layer = Layer::Alerts(layer.issued_by(Arc::new(issuer)));
    let document = format.entry_format().expect("a format of messages");
    criterion.bench_function("message", |bencher| {
        bencher.iter(|| {
            let mut out = Vec::new();
            document.encode(&layer, &context(now), &mut out).expect("a message");
            black_box(out)
        });
    });
}

criterion_group!(benches, alerts);
criterion_main!(benches);
