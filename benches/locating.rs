//! Measures how long it takes to find the local area and the province of a place among all areas of a city.
//!
//! `SIAGA_DATASET=folder` uses the areas of a folder instead of the demo's.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use geo::Centroid;
use siaga::folder::{Dataset, FolderRules};
use siaga::model::{Clock, Position, SystemClock};

fn locating(criterion: &mut Criterion) {
    let name = std::env::var("SIAGA_DATASET").unwrap_or_else(|_| "demo".to_owned());
    let dataset = Dataset::load(&name, &FolderRules::default(), SystemClock.now()).expect("a data set");
    let places: Vec<Position> = dataset
        .places
        .areas()
        .iter()
        .filter_map(|area| area.outline.centroid())
        .filter_map(|middle| Position::new(middle.x(), middle.y()))
        .collect();
    let locator = dataset.places.locator();
    let mut next = places.iter().cycle();
    criterion.bench_function(
        &format!("locate a place among {} areas", dataset.places.areas().len()),
        |bench| {
            bench.iter(|| next.next().map(|place| black_box(locator.locate(*place))));
        },
    );
}

criterion_group!(benches, locating);
criterion_main!(benches);
