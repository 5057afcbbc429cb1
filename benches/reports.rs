//! Measures how long it takes to find the reports of the last hour among few and among many, and how much memory many take.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rocket::tokio::runtime::Runtime;
use serde_json::value::to_raw_value;
use siaga::folder::Dataset;
use siaga::model::{
    AreaSelector, CARD_SOURCE, Clock, DisasterType, ManualClock, Position, Report, ReportContent,
    SystemClock, Tags, Timestamp,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{ReportQuery, ReportStore, Window};

/// How many of the reports are from the last hour, however many there are in total.
const RECENT: u64 = 200;

/// Makes reports with texts of 200 characters; the recent ones are from the last hour, the others from the year before.
fn reports(count: u64, now: Timestamp) -> Vec<Report> {
    let report = |number: u64| Report {
        key: (number + 1).try_into().expect("a key"),
        content: ReportContent {
            created_at: match number.checked_sub(count - RECENT) {
                Some(recent) => now.saturating_sub(Duration::from_secs(recent * 3_000 / RECENT)),
                None => now.saturating_sub(Duration::from_secs(7_200 + number % 31_000_000)),
            },
            source: CARD_SOURCE.into(),
            url: Some(format!("card-{number:08}").into()),
            image_url: None,
            disaster_type: DisasterType::Flood,
            report_data: to_raw_value(&serde_json::json!({"report_type": "flood", "flood_depth": 80})).ok(),
            title: "".into(),
            text: "x".repeat(200).into(),
            is_training: false,
            partner_code: None,
            partner_icon: None,
            location: Position::new(106.8, -6.2).expect("a place"),
        },
        tags: Tags { instance_region_code: Some("ID-JK".into()), ..Tags::default() },
    };
    (0..count).map(report).collect()
}

fn store(count: u64) -> MemoryStore {
    let now = SystemClock.now();
    let dataset = Dataset { reports: reports(count, now), ..Dataset::default() };
    MemoryStore::new(dataset, Arc::new(ManualClock::new(now)))
}

/// Returns the resident memory of this process in MiB, if the system shows it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn last_hour(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let window = Window::Last(Duration::from_hours(1));
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    for count in [10_000, 1_000_000] {
        let before = resident();
        let store = store(count);
        if let (Some(before), Some(after)) = (before, resident()) {
            println!("{count} reports: {} MiB resident", after.saturating_sub(before));
        }
        criterion.bench_function(&format!("the last hour's {RECENT} of {count} reports"), |bench| {
            bench.iter(|| runtime.block_on(store.reports(black_box(&query))).map(black_box));
        });
    }
}

criterion_group!(benches, last_hour);
criterion_main!(benches);
