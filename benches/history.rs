//! Measures the memory store with 20,000 changes in 7 days: the series and the archive of these days, a change, and how much
//! older changes slow them down.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use geo::{Coord, MultiPolygon, Rect};
use rocket::tokio::runtime::Runtime;
use siaga::folder::Dataset;
use siaga::model::{
    Actor, Area, AreaId, AreaLimit, AreaSelector, AreaSet, Clock, FloodChange, FloodState, ManualClock,
    Period, Places, SystemClock, Timestamp,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{FloodStore, HistoryQuery, SetFloodState};

const AREAS: u64 = 2_700;
const CHANGES: u32 = 20_000;
const WEEK: Duration = Duration::from_hours(7 * 24);

fn id(number: u64) -> AreaId {
    number.try_into().expect("an area")
}

/// Squares side by side.
fn areas() -> AreaSet {
    let area = |number: u64| {
        let (x, y) = (106.7 + (number % 60) as f64 * 0.005, -6.35 + (number / 60) as f64 * 0.005);
        let outline = Rect::new(Coord { x, y }, Coord { x: x + 0.005, y: y + 0.005 }).to_polygon();
        Area {
            id: id(number),
            geom_id: number.to_string(),
            name: format!("RW {number}"),
            parent_name: "KELURAHAN".to_owned(),
            city_name: "JAKARTA".to_owned(),
            city_code: "jbd".to_owned(),
            region_code: "ID-JK".to_owned(),
            attributes: None,
            outline: MultiPolygon(vec![outline]),
        }
    };
    AreaSet::new((0..AREAS).map(area).collect()).expect("areas")
}

/// Returns `count` changes at equal intervals `within` a time after `from`, of one area after the other.
fn changes(count: u32, from: Timestamp, within: Duration) -> impl Iterator<Item = FloodChange> {
    (0..count).map(move |number| FloodChange {
        area: id(u64::from(number) % AREAS),
        state: u64::from(number / 7 % 5).try_into().ok(),
        at: from.saturating_add(within / count * number),
        received: from.saturating_add(within / count * number),
        by: Actor { subject: "bench".to_owned(), username: None },
    })
}

/// Makes a store with a week's changes up to now, and `older` changes from the 50 weeks before.
fn store(older: u32, now: Timestamp) -> MemoryStore {
    let week = now.saturating_sub(WEEK);
    let before = changes(older, week.saturating_sub(WEEK * 50), WEEK * 50);
    let flood_log = before.chain(changes(CHANGES, week, WEEK)).collect();
    let dataset = Dataset {
        places: Places::new(Arc::new(areas()), Vec::new(), Vec::new()),
        flood_log,
        ..Dataset::default()
    };
    MemoryStore::new(dataset, Arc::new(ManualClock::new(now)))
}

fn week(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let now = SystemClock.now();
    let period = Period::new(now.saturating_sub(WEEK), now, WEEK).expect("a week");
    let query = HistoryQuery { selector: AreaSelector::default(), period };
    for older in [0, 1_000_000] {
        let store = store(older, now);
        criterion.bench_function(&format!("the series of a week, {older} older changes"), |bench| {
            bench.iter(|| runtime.block_on(store.flood_series(black_box(&query))).map(black_box));
        });
        criterion.bench_function(&format!("the archive of a week, {older} older changes"), |bench| {
            bench.iter(|| runtime.block_on(store.flood_archive(black_box(&query))).map(black_box));
        });
        criterion.bench_function(&format!("the log of an area, {older} older changes"), |bench| {
            bench.iter(|| runtime.block_on(store.flood_log(black_box(id(7)))).map(black_box));
        });
        // Measured last, because it adds to the log.
        criterion.bench_function(&format!("a change of an area, {older} older changes"), |bench| {
            let mut areas = (0..AREAS).cycle();
            bench.iter(|| {
                let by = Actor { subject: "bench".to_owned(), username: None };
                let area = areas.next().map_or_else(|| id(0), id);
                let write =
                    SetFloodState { area, state: Some(FloodState::Minor), by, limit: AreaLimit::Everywhere };
                runtime.block_on(store.set_flood_state(write)).map(black_box)
            });
        });
    }
}

criterion_group!(benches, week);
criterion_main!(benches);
