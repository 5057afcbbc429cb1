//! The service under a mixed load for a while, with a database that stops, crashes and starts again.
//!
//! `SOAK_DURATION` sets the duration, such as `30m`. Default: 20 s.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use image::ImageFormat;
use reqwest::{Method, RequestBuilder};
use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
use rocket::tokio::net::TcpStream;
use rocket::tokio::task::JoinHandle;
use rocket::tokio::{self, task, time};
use serde_json::{Value, json};
use siaga::auth::KeyDigest;
use siaga::folder::{Dataset, FolderRules, FolderWriter};
use siaga::model::{Clock, SystemClock};
use sqlx::PgConnection;

use crate::cluster::Cluster;
use crate::eventually::{eventually, patiently};
use crate::fixture::block_on;
use crate::outcome::printed;
use crate::photos::picture;
use crate::running::{KEY, Running, memory_of, request};
use crate::service_config::ServiceConfig;

/// Duration of each outage.
const AWAY: Duration = Duration::from_secs(2);
/// How long responses may be 503 after the database is back.
const RECOVERY: Duration = Duration::from_secs(3);
const MIB: u64 = 1 << 20;
/// Allowed memory growth from the second to the last third of the run: caches and the allocator vary.
const SLACK: u64 = 24 * MIB;
/// The kinds of writes, and the query for the stored ones.
const KINDS: [(&str, &str); 5] = [
    ("states", "SELECT username FROM flood_changes WHERE username LIKE 'soak-%'"),
    ("posts", "SELECT post_id::text FROM reports WHERE post_id IS NOT NULL"),
    ("cards", "SELECT card_id FROM reports WHERE card_id IS NOT NULL"),
    ("readings", "SELECT label FROM gauge_readings WHERE label LIKE 'soak-%'"),
    ("photos", "SELECT card_id FROM reports WHERE card_id IS NOT NULL AND image_url IS NOT NULL"),
];

/// Reading and writing clients, and their observations.
struct Load {
    http: reqwest::Client,
    authority: String,
    going: AtomicBool,
    /// Whether 503 is expected.
    is_away: AtomicBool,
    numbers: AtomicU64,
    acknowledged: Mutex<BTreeMap<&'static str, BTreeSet<String>>>,
    statuses: Mutex<BTreeMap<u16, u64>>,
    failures: Mutex<Vec<String>>,
}

impl Load {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn request(&self, method: Method, target: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{target}", self.authority))
    }

    /// Sends a request and reads the whole response; the body of a success.
    async fn send(&self, name: &str, request: RequestBuilder) -> Option<Value> {
        let was_away = self.is_away.load(Ordering::SeqCst);
        let sent = async {
            let response = request.send().await?;
            let status = response.status().as_u16();
            Ok::<_, reqwest::Error>((status, response.bytes().await?))
        };
        let failure = match sent.await {
            Ok((status, body)) => {
                *self.statuses.lock().unwrap().entry(status).or_default() += 1;
                if status == 200 {
                    return Some(serde_json::from_slice(&body).unwrap_or_default());
                }
                if status < 400 || status == 503 && (was_away || self.is_away.load(Ordering::SeqCst)) {
                    return None;
                }
                format!("{name}: {status} {:.300}", String::from_utf8_lossy(&body))
            }
            Err(error) => format!("{name}: {error:?}"),
        };
        self.failures.lock().unwrap().push(failure);
        None
    }

    /// Sends JSON with the key.
    async fn write(&self, method: Method, target: &str, body: Value) -> Option<Value> {
        let request = self.request(method, target).header("X-Api-Key", KEY).body(body.to_string());
        self.send(target, request).await
    }

    fn is_acknowledged(&self, kind: &'static str, name: String) {
        self.acknowledged.lock().unwrap().entry(kind).or_default().insert(name);
    }

    async fn set_state(self: Arc<Self>, area: u64) {
        let number = self.number();
        let target = format!("/v1/floods/{area}?username=soak-{number}");
        if self.write(Method::PUT, &target, json!({ "state": 1 + number % 4 })).await.is_some() {
            self.is_acknowledged("states", format!("soak-{number}"));
        }
    }

    async fn post(self: Arc<Self>) {
        let number = self.number();
        let post = json!({
            "post_id": number, "created_at": SystemClock.now(), "partner_city": "jabodetabek", "disaster_type": "flood",
            "text": "air naik", "location": { "lat": -6.2, "lng": 106.8 },
        });
        if self.write(Method::POST, "/v1/feeds/partner", post).await.is_some() {
            self.is_acknowledged("posts", number.to_string());
        }
    }

    /// Creates a card and sends its report; returns its identifier if both were acknowledged.
    async fn report(self: Arc<Self>) -> Option<String> {
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let created = self.write(Method::POST, "/v1/cards", holder).await?;
        let id = created["cardId"].as_str().unwrap();
        let report = json!({
            "card_data": { "report_type": "flood", "flood_depth": 40 }, "created_at": SystemClock.now(), "text": "air",
            "disaster_type": "flood", "location": { "lat": -6.21, "lng": 106.81 },
        });
        self.write(Method::PUT, &format!("/v1/cards/{id}"), report).await?;
        self.is_acknowledged("cards", id.to_owned());
        Some(id.to_owned())
    }

    async fn reading(self: Arc<Self>) {
        let label = format!("soak-{}", self.number());
        let readings = json!({
            "gaugeid": "SOAK", "gaugenameid": "Soak", "location": { "lat": -6.2, "lng": 106.8 },
            "observations": [{ "observed_at": SystemClock.now(), "level": 100, "alert": 4, "label": label }],
        });
        if self.write(Method::PUT, "/v1/floodgauges", readings).await.is_some() {
            self.is_acknowledged("readings", label);
        }
    }

    async fn photo(self: Arc<Self>) -> Option<()> {
        let card = Arc::clone(&self).report().await?;
        let target = format!("/v1/cards/{card}/images?file_type=image/jpeg");
        let invitation = self.write(Method::GET, &target, Value::Null).await?;
        let address = invitation["signedRequest"].as_str().unwrap();
        // The service does not know its port.
        let address = &address[address.find("/v1/").unwrap()..];
        let upload = self.request(Method::PUT, address).header("Content-Type", "image/jpeg");
        self.send(address, upload.body(picture(800, 600, ImageFormat::Jpeg))).await?;
        self.is_acknowledged("photos", card);
        Some(())
    }

    /// A period that is not cached.
    fn new_period(&self, hours: u64) -> String {
        let (now, number) = (SystemClock.now(), self.number());
        let start = now.saturating_sub(Duration::from_hours(hours) + Duration::from_millis(number));
        format!("start={start}&end={now}")
    }

    async fn read(self: Arc<Self>) {
        let number = self.number();
        let target = match number % 12 {
            0 => "/v1/floods?geoformat=cap".to_owned(),
            1 => "/v1/floods?geoformat=geojson".to_owned(),
            2 => "/v1/floods/states?minimum_state=2".to_owned(),
            3 => format!("/v1/floods/archive?{}", self.new_period(24)),
            4 => format!("/v1/floods/timeseries?{}", self.new_period(48)),
            5 => "/v1/reports".to_owned(),
            6 => format!("/v1/reports/archive?{}", self.new_period(6)),
            7 => "/v1/reports?city=jbd&timeperiod=600".to_owned(),
            8 => "/v1/floodgauges".to_owned(),
            9 => "/v1/stats/reportsSummary".to_owned(),
            10 => "/v1/infrastructure/pumps".to_owned(),
            _ => "/v1/floods".to_owned(),
        };
        let coding = if number.is_multiple_of(2) { "gzip" } else { "identity" };
        self.send(&target, self.request(Method::GET, &target).header("Accept-Encoding", coding)).await;
    }

    /// Requests a large response and disconnects.
    async fn give_up(self: Arc<Self>) {
        let target = format!("/v1/reports/archive?{}", self.new_period(70));
        let _ = time::timeout(Duration::from_millis(20), self.request(Method::GET, &target).send()).await;
    }

    /// Reads a large response at some kilobytes a second, and disconnects before its end.
    async fn read_slowly(self: Arc<Self>) {
        let mut connection = TcpStream::connect(&self.authority).await.unwrap();
        let request = request(&self.authority, "GET", "/v1/floods?geoformat=geojson", "\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut buffer = [0; 2048];
        for _ in 0..100 {
            if connection.read(&mut buffer).await.unwrap() == 0 {
                break;
            }
            time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Repeats an action with pauses, by several clients, until stopped.
    fn repeat<F: Future<Output: Send> + Send>(
        self: &Arc<Self>,
        clients: u64,
        pause: u64,
        act: impl Fn(Arc<Self>, u64) -> F + Copy + Send + 'static,
    ) -> Vec<JoinHandle<()>> {
        let repeat = |client: u64| {
            let load = Arc::clone(self);
            tokio::spawn(async move {
                while load.going.load(Ordering::Relaxed) {
                    act(Arc::clone(&load), client).await;
                    time::sleep(Duration::from_millis(pause)).await;
                }
            })
        };
        (1..=clients).map(repeat).collect()
    }

    /// Starts all clients. Two cores suffice for the load, so it causes no 503.
    fn start(self: &Arc<Self>) -> Vec<JoinHandle<()>> {
        let groups = [
            self.repeat(4, 50, Self::set_state),
            self.repeat(1, 800, |load, _| load.post()),
            self.repeat(1, 800, |load, _| load.report()),
            self.repeat(1, 250, |load, _| load.reading()),
            self.repeat(1, 3_000, |load, _| load.photo()),
            self.repeat(4, 40, |load, _| load.read()),
            self.repeat(1, 500, |load, _| load.give_up()),
            self.repeat(4, 100, |load, _| load.read_slowly()),
        ];
        groups.into_iter().flatten().collect()
    }

    /// Asserts that the database has each acknowledged write exactly once. A write without a response may be stored
    /// or not.
    async fn check(&self, connection: &mut PgConnection) {
        let acknowledged = self.acknowledged.lock().unwrap().clone();
        for (kind, sql) in KINDS {
            let all = acknowledged.get(kind).unwrap_or_else(|| panic!("no {kind} were written"));
            let mut stored = Vec::<String>::new();
            // Photos are published some time after they were acknowledged.
            let missing = async || {
                stored = sqlx::query_scalar(sql).fetch_all(&mut *connection).await.unwrap();
                all.iter().filter(|name| !stored.contains(name)).cloned().collect::<Vec<_>>()
            };
            let condition = format!("all {kind} are stored");
            eventually(&condition, Duration::from_mins(1), missing, Vec::is_empty).await;
            assert_eq!(stored.iter().collect::<BTreeSet<_>>().len(), stored.len(), "{kind} are stored twice");
            println!("{kind}: {} acknowledged, {} stored", all.len(), stored.len());
        }
    }
}

/// Samples the resident memory of a process until it ends.
fn watch_memory(process: u32) -> Arc<Mutex<Vec<u64>>> {
    let samples = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&samples);
    thread::spawn(move || {
        while let Some(resident) = memory_of(&process.to_string(), "VmRSS") {
            taken.lock().unwrap().push(resident);
            // The pace of the samples.
            thread::sleep(Duration::from_millis(250));
        }
    });
    samples
}

/// Fills a database with the demo, and starts a service on it.
fn start(cluster: &Cluster, images: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let demo = Dataset::load("demo", &FolderRules::default(), SystemClock.now()).unwrap();
    demo.save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    let config = ServiceConfig::in_database(&cluster.url());
    printed(&config.siaga(&["import", folder.path().to_str().unwrap()]));
    let keys = format!(
        r#"[{{name="root",sha256="{}",scopes=["admin"],per_second=100000,per_day=100000000}}]"#,
        KeyDigest::new(KEY).to_hex()
    );
    config
        .with("SIAGA_AUTH__API_KEYS", &keys)
        // All requests are from one address.
        .with("SIAGA_QUOTA__PER_SECOND", "0")
        .with("SIAGA_QUOTA__FUSE_PER_SECOND", "0")
        .with("SIAGA_QUOTA__PER_DAY", "1000000000")
        // Small, so that it fills early and memory stops growing.
        .with("SIAGA_CACHE__SIZE", "8MiB")
        .with("SIAGA_LIMITS__RENDERING", "64MiB")
        .with("SIAGA_LIMITS__TIMEOUT", "5s")
        .with("SIAGA_IMAGES__URL", images)
        .start()
}

/// Stops the database, sometimes as a crash would, and starts it again.
async fn outage(cluster: &Arc<Cluster>, load: &Load, number: u32) {
    let mode = if number.is_multiple_of(2) { "fast" } else { "immediate" };
    load.is_away.store(true, Ordering::SeqCst);
    let stopped = Arc::clone(cluster);
    task::spawn_blocking(move || stopped.stop(mode)).await.unwrap();
    time::sleep(AWAY).await;
    let started = Arc::clone(cluster);
    task::spawn_blocking(move || started.start()).await.unwrap();
    time::sleep(patiently(RECOVERY)).await;
    load.is_away.store(false, Ordering::SeqCst);
}

#[test]
fn under_a_mixed_load_and_outages_nothing_is_lost_nothing_fails_otherwise_and_memory_stops_growing() {
    block_on(async {
        let duration = env::var("SOAK_DURATION")
            .map_or(Duration::from_secs(20), |text| humantime::parse_duration(&text).unwrap());
        let cluster = Arc::new(Cluster::new());
        let images = tempfile::tempdir().unwrap();
        let service = start(&cluster, url::Url::from_directory_path(images.path()).unwrap().as_str());
        // The library comes without cryptography, which nothing here needs; an error means that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20));
        let load = Arc::new(Load {
            http: http.build().unwrap(),
            authority: service.authority.clone(),
            going: AtomicBool::new(true),
            is_away: AtomicBool::default(),
            numbers: AtomicU64::default(),
            acknowledged: Mutex::default(),
            statuses: Mutex::default(),
            failures: Mutex::default(),
        });
        let memory = watch_memory(service.process.id());
        let tasks = load.start();
        let began = Instant::now();
        // One stop and one crash at least.
        let outages = 2 + u32::try_from(duration.as_secs() / 300).unwrap();
        for number in 1..=outages {
            let until = duration * number / (outages + 1);
            time::sleep(until.saturating_sub(began.elapsed())).await;
            outage(&cluster, &load, number).await;
        }
        time::sleep(duration.saturating_sub(began.elapsed())).await;
        load.going.store(false, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
        load.check(&mut cluster.connected().await).await;
        // The only failures are 503 during the outages, and there were some.
        let failures = load.failures.lock().unwrap();
        let first: Vec<_> = failures.iter().take(20).collect();
        assert!(failures.is_empty(), "{} failures, the first: {first:#?}", failures.len());
        let statuses = load.statuses.lock().unwrap();
        println!("responses by status: {statuses:?}");
        assert!(statuses.contains_key(&200) && statuses.contains_key(&503), "{statuses:?}");
        let samples = memory.lock().unwrap();
        let peaks = |parts: usize| -> Vec<u64> {
            let parts = samples.chunks(samples.len().div_ceil(parts).max(1));
            parts.map(|part| part.iter().max().unwrap() / MIB).collect()
        };
        println!("peaks of resident memory in MiB, by twelfths of the time: {:?}", peaks(12));
        let [_, second, third] = peaks(3)[..] else { panic!("too few samples") };
        assert!(third <= second + second / 10 + SLACK / MIB, "{:?} MiB", peaks(12));
        drop(samples);
        assert!(!service.kill().contains("panicked"));
    });
}
