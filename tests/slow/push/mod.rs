//! Messages to the phones of whole cities: push services that work, are slow, hang or want to be left alone, kills of the server, and a
//! stranger who subscribes.

mod push_service;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Client;
use rocket::futures::StreamExt;
use rocket::futures::stream::iter;
use rocket::tokio::{self, time};
use serde_json::json;

use self::push_service::{PushService, Response};
use crate::dice::Dice;
use crate::eventually::{LONG, eventually, patiently};
use crate::fixture::block_on;
use crate::outcome::printed;
use crate::postgres::Database;
use crate::running::{KEY, Running, memory_of};
use crate::service_config::{ServiceConfig, folder_with_areas};
use crate::store_file::StoreFile;

const AREAS: u64 = 500;
const MIB: u64 = 1 << 20;
/// A phone gets its first message about a flood so long after it has subscribed.
const INTERVAL: Duration = Duration::from_mins(1);
/// A message that is repeated by mistake comes within this time.
const REPEATED_WITHIN: Duration = Duration::from_secs(65);
/// The most messages at a kill that are being sent, or whose acceptance is not stored yet.
const UNFINISHED: u64 = 200;
/// The keys of the example of RFC 8291, appendix A.
const KEYS: [&str; 2] = [
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "BTBZMqHH6r4Tts7J_aSIgg",
];

/// Stores the areas, and lets a service send messages to these push services.
fn prepare(config: ServiceConfig, folder: &Path, services: &[PushService]) -> ServiceConfig {
    printed(&config.siaga(&["import", folder.to_str().unwrap()]));
    with_push(config, services)
}

fn with_push(config: ServiceConfig, services: &[PushService]) -> ServiceConfig {
    let hosts: Vec<_> = services.iter().map(PushService::host).collect();
    config
        .with("SIAGA_PUSH__ENABLED", "true")
        .with("SIAGA_PUSH__PRIVATE", "true")
        .with("SIAGA_PUSH__SERVICES", &json!(hosts).to_string())
        .with("SIAGA_PUSH__PER_ADDRESS", "0")
        .with("SIAGA_FORMATS__CAP__STATUS", "Actual")
        .with("SIAGA_METRICS__ENABLED", "true")
}

/// A client of one server.
#[derive(Clone)]
struct Site {
    http: Client,
    base: String,
}

impl Site {
    fn new(server: &Running) -> Self {
        // An error means that one is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { http, base: format!("http://{}/v1", server.authority) }
    }

    /// Subscribes a phone to one area. Returns the status.
    async fn subscribe(&self, endpoint: String, area: u64, from: &str) -> u16 {
        let keys = json!({ "p256dh": KEYS[0], "auth": KEYS[1] });
        let body =
            json!({ "endpoint": endpoint, "keys": keys, "areas": [area.to_string()], "language": "en" });
        let request = self.http.post(format!("{}/push/subscriptions", self.base)).body(body.to_string());
        request.header("X-Forwarded-For", from).send().await.unwrap().status().as_u16()
    }

    /// Subscribes the phones 0 to `count` of each service, each to one area.
    async fn subscribe_all(&self, services: &[PushService], count: u64) {
        let phones = services.iter().flat_map(|service| (0..count).map(move |phone| (service, phone)));
        let statuses = iter(phones)
            .map(|(service, phone)| self.subscribe(service.endpoint(phone), phone % AREAS + 1, "192.0.2.1"));
        let mut statuses = statuses.buffer_unordered(32);
        while let Some(status) = statuses.next().await {
            assert_eq!(status, 200);
        }
    }

    /// Sets the state of all areas at once.
    async fn set_all(&self, state: u64) {
        let changes: Vec<_> = (1..=AREAS).map(|area| json!({ "area_id": area, "state": state })).collect();
        let request = self.http.post(format!("{}/floods/changes", self.base)).header("X-Api-Key", KEY);
        let response = request.body(json!({ "changes": changes }).to_string()).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    }

    async fn count_subscriptions(&self) -> u64 {
        let request = self.http.get(self.base.replace("/v1", "/metrics")).header("X-Api-Key", KEY);
        let metrics = request.send().await.unwrap().text().await.unwrap();
        let line = metrics.lines().find_map(|line| line.strip_prefix("siaga_push_subscriptions "));
        line.unwrap_or_else(|| panic!("{metrics}")).parse().unwrap()
    }

    /// Reads the floods again and again, and returns how long each response took, ascending.
    async fn read_floods(&self, until: impl AsyncFn() -> bool) -> Vec<Duration> {
        let mut times = Vec::new();
        while !until().await {
            let begun = Instant::now();
            let response = self.http.get(format!("{}/floods", self.base)).send().await.unwrap();
            assert_eq!(response.status(), 200);
            response.bytes().await.unwrap();
            times.push(begun.elapsed());
            time::sleep(Duration::from_millis(50)).await;
        }
        times.sort();
        times
    }
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Returns when the last message was accepted. Fails if a phone got more than one, or got none although `is_told`.
fn last_accepted(service: &PushService, phones: u64, is_told: impl Fn(u64) -> bool) -> Instant {
    let messages = service.messages();
    let accepted = |phone| {
        let all = messages.get(&phone).into_iter().flatten().filter_map(|message| message.accepted);
        all.collect::<Vec<_>>()
    };
    let counts: BTreeMap<u64, usize> = (0..phones).map(|phone| (phone, accepted(phone).len())).collect();
    let wrong: Vec<_> =
        counts.iter().filter(|(phone, count)| **count != usize::from(is_told(**phone))).collect();
    assert!(
        wrong.is_empty(),
        "{} of {phones} phones, such as {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
    (0..phones).flat_map(accepted).max().unwrap()
}

/// Tells `count` phones of each of four push services about [`AREAS`] areas that are set at once.
///
/// Each service has its fault, and none delays the others: one works, for one a tenth of the phones are gone, one wants that every first
/// attempt is repeated later, and one hangs.
async fn check_services(services: [PushService; 4], config: ServiceConfig, count: u64) {
    const LATER: u64 = 20;
    let (server, begun) = (config.start(), Instant::now());
    let site = Site::new(&server);
    site.subscribe_all(&services, count).await;
    println!("{} subscriptions after {:?}", 4 * count, begun.elapsed());
    let subscribed = async || site.count_subscriptions().await;
    eventually("all are counted", LONG, subscribed, |all| *all == 4 * count).await;
    let last = Instant::now();
    let before = site.read_floods(async || last.elapsed() >= INTERVAL).await;
    let memory = memory_of(&server.process.id().to_string(), "VmHWM").unwrap();

    let [healthy, gone, later, hanging] = &services;
    healthy.restart(|_, _| Response::Accepted);
    gone.restart(|phone, _| if phone % 10 == 0 { Response::Gone } else { Response::Accepted });
    later.restart(|_, earlier| if earlier == 0 { Response::Later(LATER) } else { Response::Accepted });
    hanging.restart(|_, _| Response::Hang);
    let set = Instant::now();
    site.set_all(4).await;
    let limit = patiently(INTERVAL + Duration::from_secs(LATER));
    let others = 2 * count + count * 9 / 10;
    let is_done = async || {
        let accepted = [healthy, gone, later].map(PushService::accepted).into_iter().sum::<usize>() as u64;
        assert!(set.elapsed() < limit, "after {limit:?}, {accepted} of {others} have been told");
        accepted >= others
    };
    let during = site.read_floods(is_done).await;
    let since = |service, is_told: &dyn Fn(u64) -> bool| last_accepted(service, count, is_told) - set;
    let told_healthy = since(healthy, &|_| true);
    // A sender that waits for the hanging requests of 1,000 phones is later.
    assert!(told_healthy < patiently(Duration::from_secs(45)), "{told_healthy:?}");
    println!(
        "the last phone of each: {:?}, {:?} (410), {:?} (429)",
        told_healthy,
        since(gone, &|phone| phone % 10 != 0),
        since(later, &|_| true)
    );
    for (name, times) in [("before", &before), ("during", &during)] {
        println!("floods {name}: median {:?}, p99 {:?}", percentile(times, 50), percentile(times, 99));
    }
    assert!(percentile(&during, 99) < patiently(Duration::from_secs(1)), "{:?}", percentile(&during, 99));
    let told = async || site.count_subscriptions().await;
    eventually("those that are gone have ended", LONG, told, |all| *all == 4 * count - count / 10).await;

    // The phones of the last one get their message within a minute after it responds again.
    assert_eq!(hanging.accepted(), 0);
    hanging.recover();
    let responds = Instant::now();
    let accepted = async || hanging.accepted() as u64;
    eventually("the last service's phones", INTERVAL, accepted, |all| *all >= count).await;
    println!("the one that hung: {:?}", last_accepted(hanging, count, |_| true) - responds);
    let peak = memory_of(&server.process.id().to_string(), "VmHWM").unwrap();
    println!("memory: {} MiB, at most {} MiB", memory / MIB, peak / MIB);
    assert!(peak < memory + 256 * MIB);
    // Nobody is told twice.
    time::sleep(REPEATED_WITHIN).await;
    last_accepted(healthy, count, |_| true);
    last_accepted(later, count, |_| true);
}

async fn listen_all() -> [PushService; 4] {
    let listen = PushService::listen;
    [listen(1).await, listen(2).await, listen(3).await, listen(4).await]
}

#[test]
fn a_hundred_thousand_phones_on_a_file_are_told_once_and_no_push_service_delays_another() {
    block_on(async {
        let (services, file, folder) = (listen_all().await, StoreFile::none(), folder_with_areas(AREAS));
        let config = prepare(ServiceConfig::in_file(&file.path()), folder.path(), &services);
        check_services(services, config, 25_000).await;
    });
}

#[test]
fn phones_on_a_database_are_told_once_and_no_push_service_delays_another() {
    block_on(async {
        let (services, database, folder) =
            (listen_all().await, Database::empty().await, folder_with_areas(AREAS));
        let config = prepare(ServiceConfig::in_database(&database.url()), folder.path(), &services);
        check_services(services, config, 2_500).await;
    });
}

#[test]
fn phones_in_memory_are_told_once_and_no_push_service_delays_another() {
    block_on(async {
        let (services, folder) = (listen_all().await, folder_with_areas(AREAS));
        let config = with_push(ServiceConfig::in_memory(folder.path()), &services);
        check_services(services, config, 2_500).await;
    });
}

/// Kills the server while it sends to `count` phones. Nobody is left out, and nobody is told again without a kill in between.
async fn check_kills(config: ServiceConfig, service: PushService, count: u64, kills: u64) {
    let mut server = config.start();
    Site::new(&server).subscribe_all(std::slice::from_ref(&service), count).await;
    time::sleep(INTERVAL).await;
    service.restart(|_, _| Response::Slow(Duration::from_secs(1)));
    Site::new(&server).set_all(4).await;
    let mut dice = Dice(57);
    let mut started = Instant::now();
    for _ in 0..kills {
        let arrived = async || {
            let messages = service.messages();
            messages.values().flatten().filter(|message| message.arrived > started).count()
        };
        eventually("it sends", 2 * LONG, arrived, |arrived| *arrived > 0).await;
        time::sleep(Duration::from_millis(3_000 + dice.below(3_000))).await;
        server.kill();
        server = config.start();
        started = Instant::now();
    }
    let told = async || {
        let messages = service.messages();
        (0..count)
            .filter(|phone| {
                messages.get(phone).is_none_or(|all| all.iter().all(|message| message.accepted.is_none()))
            })
            .count()
    };
    println!("after {kills} kills, {} phones have still to be told", told().await);
    eventually("everybody is told", 4 * LONG, told, |left| *left == 0).await;
    time::sleep(REPEATED_WITHIN).await;
    let sent: Vec<_> = service.messages().into_values().map(|messages| messages.len() as u64).collect();
    let again: u64 = sent.iter().map(|messages| messages - 1).sum();
    println!("{again} messages were sent again");
    assert!(sent.iter().all(|messages| *messages <= 1 + kills));
    assert!(again <= kills * UNFINISHED, "{again}");
}

#[test]
fn twenty_kills_leave_nobody_out_and_repeat_only_what_was_being_sent() {
    block_on(async {
        let (service, file, folder) =
            (PushService::listen(5).await, StoreFile::none(), folder_with_areas(AREAS));
        let config = ServiceConfig::in_file(&file.path());
        let config = prepare(config, folder.path(), std::slice::from_ref(&service));
        check_kills(config, service, 12_000, 20).await;
    });
}

/// Another server takes the lease after 30 seconds, so there are fewer kills.
#[test]
fn kills_of_a_server_on_a_database_leave_nobody_out_and_repeat_only_what_was_being_sent() {
    block_on(async {
        let (service, database, folder) =
            (PushService::listen(6).await, Database::empty().await, folder_with_areas(AREAS));
        let config = ServiceConfig::in_database(&database.url());
        let config = prepare(config, folder.path(), std::slice::from_ref(&service));
        check_kills(config, service, 4_000, 4).await;
    });
}

#[test]
fn a_stranger_with_ten_thousand_endpoints_does_not_keep_five_hundred_phones_from_subscribing() {
    const STRANGER: &str = "203.0.113.7";
    const CARRIER: &str = "198.51.100.1";
    // Both use the push service of the same browser.
    const MADE_UP: u64 = 10_000;
    block_on(async {
        let service = PushService::listen(7).await;
        service.restart(|phone, _| if phone < MADE_UP { Response::Gone } else { Response::Accepted });
        let folder = folder_with_areas(AREAS);
        let config = with_push(ServiceConfig::in_memory(folder.path()), std::slice::from_ref(&service))
            .without("SIAGA_PUSH__PER_ADDRESS")
            .with("SIAGA_QUOTA__TRUSTED_PROXIES", r#"["127.0.0.1"]"#);
        let server = config.start();
        let site = Site::new(&server);
        let attack = async {
            let statuses =
                iter(0..MADE_UP).map(|number| site.subscribe(service.endpoint(number), 1, STRANGER));
            let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
            let mut statuses = statuses.buffer_unordered(100);
            while let Some(status) = statuses.next().await {
                *counts.entry(status).or_default() += 1;
            }
            counts
        };
        let begun = Instant::now();
        let phones = async {
            let subscribe = async |phone| {
                // While many subscribe, a person tries again.
                for attempt in 1.. {
                    match site.subscribe(service.endpoint(MADE_UP + phone), phone % AREAS + 1, CARRIER).await
                    {
                        200 => return attempt,
                        503 if attempt < 20 => time::sleep(Duration::from_secs(1)).await,
                        status => panic!("{status} after {attempt} attempts"),
                    }
                }
                unreachable!()
            };
            let attempts: Vec<u32> = iter(0..500).map(subscribe).buffer_unordered(8).collect().await;
            println!(
                "500 phones have subscribed after {:?}, {} attempts",
                begun.elapsed(),
                attempts.iter().sum::<u32>()
            );
        };
        let (counts, ()) = tokio::join!(attack, phones);
        assert!(counts.keys().all(|status| [400, 429, 503].contains(status)), "{counts:?}");
        // An address may subscribe 1,000 times in an hour, and regains one in 3.6 s.
        let tried = service.messages().keys().filter(|phone| **phone < MADE_UP).count();
        assert!((1..1_100).contains(&tried) && counts[&429] > 8_000, "{tried}, {counts:?}");
        let stored = async || site.count_subscriptions().await;
        eventually("only the phones are stored", LONG, stored, |stored| *stored == 500).await;
    });
}
