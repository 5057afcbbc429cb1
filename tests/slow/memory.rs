//! Peak memory. Each test runs in its own process and measures the whole process.

use std::any::type_name;
use std::env;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use governor::clock::FakeRelativeClock;
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use png::{BitDepth, ColorType, Compression, Encoder};
use rocket::futures::future::join_all;
use rocket::local::asynchronous::Client as Service;
use rocket::tokio::io::AsyncReadExt;
use rocket::tokio::{self, time};
use serde_json::json;
use siaga::folder::Dataset;
use siaga::internals::{Client, NotAPhoto, Photo, Quota, Quotas, prepare};
use siaga::model::{DisasterType, Report, Tags};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

use crate::eventually::{LONG, eventually};
use crate::fixture::{self, block_on};
use crate::large_map::{OpenLarge, service};
use crate::running::memory_of;

const MIB: u64 = 1 << 20;
/// The limit for large responses.
const LIMIT: u64 = 64 * MIB;

/// Runs the calling test in a child process, and asserts that it succeeds.
fn in_child_process<T: FnOnce()>(test: T) {
    const ALONE: &str = "SIAGA_TESTS_ALONE";
    if env::var_os(ALONE).is_some() {
        return test();
    }
    let path: Vec<_> = type_name::<T>().split("::").skip(1).collect();
    let name = path[..path.len() - 1].join("::");
    let mut program = Command::new(env::current_exe().unwrap());
    let output = program.args([&name, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let failure = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains(" 1 passed"), "{name}: {printed}{failure}");
}

/// Memory at the start of a measurement.
struct Baseline(u64);

impl Baseline {
    /// Resets the peak.
    fn now() -> Self {
        fs::write("/proc/self/clear_refs", "5").unwrap();
        Self(memory_of("self", "VmRSS").unwrap())
    }

    /// Asserts a limit of the peak since then.
    fn assert_peak_below(&self, limit: u64, condition: &str) {
        let taken = memory_of("self", "VmHWM").unwrap().saturating_sub(self.0);
        assert!(taken < limit, "{condition}: {} MiB", taken / MIB);
    }

    /// The growth since then.
    fn resident(&self) -> u64 {
        memory_of("self", "VmRSS").unwrap().saturating_sub(self.0)
    }
}

/// A service with a limit for large responses, and a tiny cache.
async fn limited(store: impl OpenStore + 'static, timeout: &str) -> Service {
    let figment = |figment: figment::Figment| {
        let figment = figment.merge(("siaga.limits.rendering", LIMIT)).merge(("siaga.cache.size", "1MiB"));
        figment.merge(("siaga.limits.timeout", timeout))
    };
    service(store, figment).await
}

#[test]
fn unread_parts_and_full_states_use_no_more_memory_than_their_limit() {
    // 10,000 areas: a part with nearly all of them has some 5 MB, and the full state 0.7 MB.
    const MAP: OpenLarge = OpenLarge { side: 100, points: 5 };
    let test = async {
        let client = limited(MAP, "5s").await;
        // Warms up what is built once.
        for address in
            ["/v1/areas?level=parent", "/v1/areas?level=city", "/v1/areas?geoformat=geojson", "/v1/changes"]
        {
            let fetch = async || client.get(address).dispatch().await.status().code;
            eventually(address, LONG, fetch, |status| *status == 200).await;
        }

        let before = Baseline::now();
        let address = |number: u64| format!("/v1/areas?geoformat=geojson&bbox=100,0,100.{},1", 30 + number);
        let addresses: Vec<_> = (0..60).map(address).collect();
        // Holds the responses, like slow readers.
        let parts = join_all(addresses.iter().map(|address| client.get(address.as_str()).dispatch())).await;
        before.assert_peak_below(LIMIT + 24 * MIB, "parts");
        let statuses: Vec<_> = parts.iter().map(|response| response.status().code).collect();
        let rendered = statuses.iter().filter(|status| **status == 200).count();
        assert!(rendered >= 2, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        drop(parts);

        let before = Baseline::now();
        let mut streams = join_all((0..200).map(|_| client.get("/v1/changes/stream").dispatch())).await;
        let mut beginnings = vec![[0; 1000]; 200];
        let reading =
            streams.iter_mut().zip(&mut beginnings).map(|(stream, beginning)| stream.read_exact(beginning));
        for read in join_all(reading).await {
            read.unwrap();
        }
        assert!(String::from_utf8_lossy(&beginnings[199]).contains(r#""full":true"#));
        before.assert_peak_below(32 * MIB, "streams");
        drop(streams);

        let before = Baseline::now();
        let full = join_all((0..200).map(|_| client.get("/v1/changes").dispatch())).await;
        assert!(full.iter().all(|response| response.status().code == 200));
        before.assert_peak_below(32 * MIB, "changes");
        let body = full.into_iter().next().unwrap().into_string().await.unwrap();
        assert!(body.len() > 500_000 && body.ends_with("}}"), "{}", body.len());
    };
    in_child_process(|| block_on(test));
}

/// A list of these is about 7 MiB.
const REPORTS: u64 = 15_000;
/// Concurrent lists: together some 200 MiB.
const REQUESTS: u64 = 30;

#[derive(Debug)]
struct OpenReports;

#[async_trait]
impl OpenStore for OpenReports {
    fn name(&self) -> &'static str {
        "large"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let report = |number: u64| Report {
            key: number.try_into().unwrap(),
            content: fixture::content(DisasterType::Flood, 60 + number, fixture::place(0.5, 0.5)),
            tags: Tags::default(),
        };
        let dataset = Dataset { reports: (1..=REPORTS).map(report).collect(), ..fixture::dataset() };
        Ok(OpenedStore::new(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock)))))
    }
}

/// A distinct address for all reports.
fn archive(number: u64) -> String {
    let start = fixture::now().saturating_sub(Duration::from_hours(24 * 300) + Duration::from_millis(number));
    format!("/v1/reports/archive?start={start}&end={}", fixture::now())
}

#[test]
fn distinct_archives_requested_at_once_use_no_more_memory_than_their_limit() {
    let test = async {
        let client = limited(OpenReports, "10s").await;
        // Warms up what is built once.
        client.get(archive(0)).dispatch().await.into_bytes().await.unwrap();
        client.get("/v1/floods/states").dispatch().await;
        let before = Baseline::now();

        let addresses: Vec<_> = (1..=REQUESTS).map(archive).collect();
        // Holds the responses, like slow readers.
        let fetch = join_all(addresses.iter().map(|address| client.get(address.as_str()).dispatch()));
        let others = async {
            // While the large lists are rendered.
            time::sleep(Duration::from_secs(1)).await;
            client.get("/v1/reports").dispatch().await.status().code
        };
        let (responses, other) = tokio::join!(fetch, others);
        assert_eq!(other, 200, "small responses do not wait for them");
        before.assert_peak_below(LIMIT + 24 * MIB, "archives");

        let statuses: Vec<_> = responses.iter().map(|response| response.status().code).collect();
        let ok = statuses.iter().filter(|status| **status == 200).count();
        assert!((2..20).contains(&ok), "{statuses:?}");
        let mut others = responses.iter().filter(|response| response.status().code != 200);
        let is_refused = |status| status == 503;
        assert!(
            others.all(|other| is_refused(other.status().code) && other.headers().contains("Retry-After"))
        );

        drop(responses);
        let response = client.get(archive(REQUESTS + 1)).dispatch().await;
        assert_eq!(response.status().code, 200, "their memory is given back");
        assert!(response.into_bytes().await.unwrap().len() as u64 > 5 * MIB);

        // Abandoned requests, each for another list.
        for number in 0..2 * REQUESTS {
            let address = archive(100 + number);
            let request = client.get(address.as_str());
            drop(time::timeout(Duration::from_millis(20), request.dispatch()).await);
        }
        before.assert_peak_below(LIMIT + 24 * MIB, "archives that were given up");
        assert_eq!(client.get("/v1/floods").dispatch().await.status().code, 200);
    };
    in_child_process(|| block_on(test));
}

fn png(width: u32, height: u32, color: ColorType, depth: BitDepth) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(Compression::Fastest);
    let row = (width as usize * color.samples() * depth as usize).div_ceil(8);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; row * height as usize]).unwrap();
    drop(writer);
    file
}

/// A JPEG whose rows differ from each other and within.
fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let row: Vec<u8> = (0..width * 3).map(|at| (at / 3 % 64 * 3) as u8).collect();
    let mut samples = Vec::with_capacity((width * height * 3) as usize);
    for line in 0..height as usize {
        let turn = line % 64 * 3;
        samples.extend([&row[turn..], &row[..turn]].concat());
    }
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, 80)
        .encode(&samples, width, height, ExtendedColorType::Rgb8)
        .unwrap();
    file
}

/// Processes a photo within a memory limit.
fn prepared(condition: &str, file: &[u8], limit: u64) -> Result<Photo, NotAPhoto> {
    let before = Baseline::now();
    let photo = prepare(file, 1_600);
    before.assert_peak_below(limit * MIB, condition);
    photo
}

#[test]
fn no_file_uses_more_memory_than_allowed() {
    in_child_process(|| {
        let many = png(30_000, 30_000, ColorType::Grayscale, BitDepth::One);
        let photo = prepared("a header of 900 megapixels", &many, 20);
        assert_eq!(photo, Err(NotAPhoto::TooManyPixels { pixels: 900_000_000 }));
        let photo = prepared("a JPEG of 12 megapixels", &jpeg(4_032, 3_024), 150);
        assert_eq!(photo.map(|photo| (photo.width, photo.height)), Ok((1_600, 1_200)));
        let deep = png(5_400, 5_400, ColorType::Rgba, BitDepth::Sixteen);
        prepared("the largest PNG of 16 bits", &deep, 250).unwrap();
        let larger = png(5_500, 5_500, ColorType::Rgba, BitDepth::Sixteen);
        let photo = prepared("a larger one", &larger, 20);
        assert!(matches!(photo, Err(NotAPhoto::TooMuchMemory { .. })), "{photo:?}");
    });
}

fn client(number: u32) -> Client {
    IpAddr::from(Ipv4Addr::from_bits(number)).into()
}

#[test]
fn honest_clients_go_on_and_memory_stays_small_under_a_million_requests_of_a_hundred_thousand_addresses() {
    in_child_process(|| {
        const ADDRESSES: u32 = 100_000;
        const REQUESTS: u32 = 1_000_000;
        let clock = FakeRelativeClock::default();
        let settings = json!({ "per_second": 1, "burst": 2, "per_day": 100 });
        let settings: Quota = serde_json::from_value(settings).unwrap();
        let quotas = Quotas::new(settings, clock.clone());
        // Each sends a request, and half a second later another.
        let honest: Vec<Vec<_>> = (0..5)
            .map(|group| (0..100).map(|number| client(0xC000_0000 + group * 100 + number)).collect())
            .collect();
        let before = Baseline::now();
        let (mut sent, mut accepted, mut refused) = (0_u32, 0_u32, 0_u32);
        // A second, in which every attacker sends ten requests.
        for number in 0..REQUESTS {
            let attacker = number % ADDRESSES;
            if quotas.check_hard_limit(Ipv4Addr::from_bits(attacker).into()).is_ok() {
                refused += u32::from(quotas.count(&client(attacker), None).is_err());
            }
            if number % ADDRESSES == 0 {
                let group = &honest[(number / ADDRESSES) as usize % honest.len()];
                for client in group {
                    sent += 1;
                    accepted += u32::from(quotas.count(client, None).is_ok());
                }
            }
            clock.advance(Duration::from_micros(1));
        }
        assert!(f64::from(accepted) > 0.9 * f64::from(sent), "{accepted} of {sent}");
        assert!(refused > REQUESTS / 2, "{refused}");
        assert!(quotas.client_count() >= ADDRESSES as usize);
        let grown = before.resident();
        assert!(grown < 100 * MIB, "{grown} bytes");
        clock.advance(Duration::from_hours(25));
        quotas.sweep();
        assert_eq!(quotas.client_count(), 0);
        let resident = before.resident();
        assert!(resident < grown / 2, "{resident} of {grown} bytes are given back");
        for client in honest.iter().flatten() {
            assert!(quotas.count(client, None).is_ok());
        }
    });
}
