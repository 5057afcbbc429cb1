//! Measures a response of `/basemap` that nobody has requested before, from a file of 200,000 roads: the time until it is compressed.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use figment::Figment;
use rocket::http::Header;
use rocket::local::blocking::Client;
use siaga::Siaga;

/// A city of 60 by 40 km in which streets are 150 m long, one beside the other, each of its own.
fn roads() -> String {
    let mut all = r#"{"type":"FeatureCollection","features":["#.to_owned();
    for number in 0..200_000_u32 {
        let (column, row) = (number % 500, number / 500);
        let (lng, lat) = (106.5 + f64::from(column) * 0.0012, -6.4 + f64::from(row) * 0.001);
        let kind = ["street", "street", "street", "secondary", "primary"][(number % 5) as usize];
        let bend = |part: f64| (f64::from(number) * 7.0 * part).sin() * 0.0003;
        let positions: Vec<_> = (0..6)
            .map(|part| f64::from(part) / 5.0)
            .map(|part| format!("[{:.6},{:.6}]", lng + part * 0.001, lat + bend(part)))
            .collect();
        let comma = if number == 0 { "" } else { "," };
        write!(
            all,
            "{comma}\n{{\"type\":\"Feature\",\"properties\":{{\"kind\":\"{kind}\",\"name\":\"Jalan {number}\"}},\"geometry\":{{\"type\":\
             \"LineString\",\"coordinates\":[{}]}}}}",
            positions.join(",")
        )
        .expect("memory");
    }
    all + "\n]}"
}

fn drawing(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("basemap.geojson");
    fs::write(&file, roads()).expect("a file");
    let figment = Figment::from(rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        ..rocket::Config::debug_default()
    })
    .merge(("siaga.map.basemap.file", &file))
    .merge(("siaga.map.basemap.attribution", ""));
    let siaga = rocket::tokio::runtime::Runtime::new()
        .expect("a runtime")
        .block_on(Siaga::builder().figment(figment).build())
        .expect("a server");
    let client = Client::untracked(siaga.rocket).expect("a client");
    let mut requests = 0_u32;
    for (zoom, side) in [(11, 0.4), (13, 0.12), (16, 0.02)] {
        let mut longest = 0;
        criterion.bench_function(&format!("a part of the base map at zoom {zoom}"), |bench| {
            bench.iter(|| {
                requests += 1;
                let (column, row) = (requests % 30, requests / 30 % 20);
                let (west, south) = (106.5 + f64::from(column) * 0.01, -6.4 + f64::from(row) * 0.01);
                let address = format!(
                    "/v1/basemap?bbox={west:.2},{south:.2},{:.2},{:.2}&zoom={zoom}",
                    west + side,
                    south + side
                );
                let request = client.get(address).header(Header::new("Accept-Encoding", "gzip"));
                let body = request.dispatch().into_bytes().expect("a body");
                longest = longest.max(body.len());
                black_box(body);
            });
        });
        println!("at zoom {zoom} the longest response has {longest} bytes");
    }
}

criterion_group!(benches, drawing);
criterion_main!(benches);
