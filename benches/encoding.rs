//! Measures how long it takes to write the flood map: from geometry, with everything prepared, and a selection of it.
//!
//! `SIAGA_DATASET=folder` uses the areas of a folder instead of the demo's. Writing from geometry is also measured with 250,000
//! areas, copies of the data set side by side, to show the cost of a position at that size.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use geo::{BoundingRect, Coord, GeometryCollection, MapCoords, Rect};
use geojson::FeatureCollection;
use mimalloc::MiMalloc;
use siaga::folder::{Dataset, FolderRules};
use siaga::formats::cap::Cap;
use siaga::formats::geojson::GeoJson;
use siaga::formats::topojson::{Options, Quantization, TopoJson};
use siaga::formats::{EncodeContext, Format};
use siaga::model::topology::Topology;
use siaga::model::{
    Area, AreaSet, Clock, FloodLayer, FloodState, FloodStatus, Geometry, Layer, StateChange, SystemClock,
};

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const QUANTIZATION: u32 = 10_000;
/// As many areas as a large country has.
const MANY: usize = 250_000;

fn context() -> EncodeContext {
    EncodeContext::new(SystemClock.now(), chrono_tz::Asia::Jakarta, "http://127.0.0.1:8000/v1")
}

/// Returns all areas for the flood map; one in ten has a state.
fn floods(areas: &Arc<AreaSet>) -> Vec<(usize, FloodStatus)> {
    let at = SystemClock.now();
    let states = FloodState::ALL.into_iter().cycle();
    let status = |(position, state)| match position % 10 {
        0 => FloodStatus::after_first(StateChange { state: Some(state), at }),
        _ => FloodStatus::NEVER_FLOODED,
    };
    (0..areas.len()).zip(states).map(|area| (area.0, status(area))).collect()
}

fn layer(areas: &Arc<AreaSet>, selected: Vec<(usize, FloodStatus)>) -> Layer {
    Layer::Floods(FloodLayer::new(Arc::clone(areas), selected))
}

fn positions(areas: &AreaSet) -> usize {
    let count = |polygon: &geo::Polygon<f64>| {
        let holes = polygon.interiors().iter().map(|hole| hole.0.len());
        polygon.exterior().0.len() + holes.sum::<usize>()
    };
    areas.iter().flat_map(|area| &area.outline).map(count).sum()
}

fn bounds(areas: &AreaSet) -> Rect<f64> {
    let outlines = areas.iter().map(|area| area.outline.clone().into());
    GeometryCollection::<f64>(outlines.collect()).bounding_rect().expect("areas")
}

/// Returns copies of the areas side by side, [`MANY`] or a few more, and a quantization with as many steps per degree as a
/// single copy has.
fn side_by_side(areas: &AreaSet) -> (Arc<AreaSet>, Quantization) {
    let one = bounds(areas);
    let copies = MANY.div_ceil(areas.len());
    let columns = (1..=copies).find(|columns| columns * columns >= copies).expect("a square");
    let moved = |copy: usize, area: &Area| {
        let by =
            Coord { x: one.width() * (copy % columns) as f64, y: one.height() * (copy / columns) as f64 };
        let id = ((copy as u64) << 32) | (area.id.number() & 0xffff_ffff);
        let outline = area.outline.map_coords(|at| at + by);
        Area { id: id.try_into().expect("an identifier"), outline, ..area.clone() }
    };
    let all = (0..copies).flat_map(|copy| areas.iter().map(move |area| moved(copy, area)));
    let quantization = (QUANTIZATION - 1) * columns as u32 + 1;
    (Arc::new(AreaSet::new(all.collect()).expect("areas")), quantization.try_into().expect("a quantization"))
}

fn bench(criterion: &mut Criterion, name: &str, mut write: impl FnMut(&mut Vec<u8>)) {
    let mut out = Vec::new();
    criterion.bench_function(name, |bench| {
        bench.iter(|| {
            out.clear();
            write(&mut out);
            black_box(&out);
        });
    });
}

/// Measures `topojson` from geometry: first the topology alone, then the document.
fn from_geometry(criterion: &mut Criterion, whose: &str, areas: &Arc<AreaSet>, quantization: Quantization) {
    let mut group = criterion.benchmark_group(format!("topojson of {whose} areas"));
    group.throughput(Throughput::Elements(positions(areas) as u64));
    let geometries: Vec<Geometry<'_>> = areas.iter().map(Area::geometry).collect();
    group.bench_function("topology", |bench| {
        bench.iter(|| black_box(Topology::new(&geometries, quantization.fineness(&geometries))));
    });
    let (context, all, mut out) = (context(), layer(areas, floods(areas)), Vec::new());
    group.bench_function("document", |bench| {
        bench.iter(|| {
            out.clear();
            let format = TopoJson::new(Options { quantization });
            format.encode(&all, &context, &mut out).expect("a document");
            black_box(&out);
        });
    });
    group.finish();
}

fn encoding(criterion: &mut Criterion) {
    let name = std::env::var("SIAGA_DATASET").unwrap_or_else(|_| "demo".to_owned());
    let dataset = Dataset::load(&name, &FolderRules::default(), SystemClock.now()).expect("a data set");
    let areas = Arc::clone(dataset.places.areas());
    let context = context();
    let all = layer(&areas, floods(&areas));
    let flooded = |state: FloodState| {
        let at_least = |status: &FloodStatus| status.current().is_some_and(|current| current.state >= state);
        layer(&areas, floods(&areas).into_iter().filter(|(_, status)| at_least(status)).collect())
    };

    from_geometry(criterion, "all", &areas, QUANTIZATION.try_into().expect("a quantization"));
    let format = TopoJson::default();
    let write = |format: &dyn Format, layer: &Layer, out: &mut Vec<u8>| {
        format.encode(layer, &context, out).expect("a document");
    };
    bench(criterion, "topojson after a change of state", |out| write(&format, &all, out));
    let some = flooded(FloodState::Moderate);
    bench(criterion, "topojson of a minimum_state", |out| write(&format, &some, out));

    bench(criterion, "geojson, nothing prepared", |out| write(&GeoJson::default(), &all, out));
    let format = GeoJson::default();
    bench(criterion, "geojson, prepared", |out| write(&format, &all, out));
    let mut document = Vec::new();
    write(&format, &all, &mut document);
    let collection: FeatureCollection = serde_json::from_slice(&document).expect("GeoJSON");
    bench(criterion, "geojson by serde_json, of a FeatureCollection", |out| {
        serde_json::to_writer(out, &collection).expect("a document");
    });

    let wet = flooded(FloodState::Unknown);
    bench(criterion, "cap, nothing prepared", |out| write(&Cap::default(), &wet, out));
    let format = Cap::default();
    bench(criterion, "cap, prepared", |out| write(&format, &wet, out));
}

fn many(criterion: &mut Criterion) {
    let name = std::env::var("SIAGA_DATASET").unwrap_or_else(|_| "demo".to_owned());
    let dataset = Dataset::load(&name, &FolderRules::default(), SystemClock.now()).expect("a data set");
    let areas = Arc::clone(dataset.places.areas());
    let (areas, quantization) = side_by_side(&areas);
    from_geometry(criterion, "250,000", &areas, quantization);
}

criterion_group! {
    name = few_areas;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = encoding
}
criterion_group! {
    name = many_areas;
    config = Criterion::default().warm_up_time(Duration::from_millis(1)).sample_size(10);
    targets = many
}
criterion_main!(few_areas, many_areas);
