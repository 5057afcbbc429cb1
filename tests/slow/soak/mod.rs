//! The service under a mixed load for a while, with a database that stops, crashes and starts again.
//!
//! `SOAK_DURATION` says how long: `30m`. Default: 20 s.

mod client;
mod load;
mod memory;

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rocket::tokio::{task, time};
use siaga::auth::KeyDigest;
use siaga::folder::{Dataset, FolderRules, FolderWriter};
use siaga::model::{Clock, SystemClock};
use sqlx::{Connection, PgConnection};

use self::client::Client;
use self::load::{Load, Written};
use self::memory::Memory;
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::fixture::block_on;
use crate::kept::Kept;
use crate::outcome::printed;
use crate::running::{KEY, Running};

/// How long it is away each time.
const AWAY: Duration = Duration::from_secs(2);
/// How long after its start the service may still answer 503.
const RECOVERY: Duration = Duration::from_secs(3);

/// How long the test lasts.
fn duration() -> Duration {
    env::var("SOAK_DURATION")
        .map_or(Duration::from_secs(20), |text| humantime::parse_duration(&text).unwrap())
}

/// Fills a database with the demo.
fn import(cluster: &Cluster) {
    let folder = tempfile::tempdir().unwrap();
    let demo = Dataset::load("demo", &FolderRules::default(), SystemClock.now()).unwrap();
    demo.save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    printed(&Kept::in_database(&cluster.url()).siaga(&["import", folder.path().to_str().unwrap()]));
}

fn start(cluster: &Cluster, images: &str) -> Running {
    let keys = format!(
        r#"[{{name="root",sha256="{}",scopes=["admin"],per_second=100000,per_day=100000000}}]"#,
        KeyDigest::of(KEY).to_hex()
    );
    Kept::in_database(&cluster.url())
        .with("SIAGA_AUTH__API_KEYS", &keys)
        // All requests are from one address.
        .with("SIAGA_QUOTA__PER_SECOND", "0")
        .with("SIAGA_QUOTA__FUSE_PER_SECOND", "0")
        .with("SIAGA_QUOTA__PER_DAY", "1000000000")
        // Small, so that it is full soon and memory stops growing.
        .with("SIAGA_CACHE__SIZE", "8MiB")
        .with("SIAGA_LIMITS__RENDERING", "64MiB")
        .with("SIAGA_LIMITS__TIMEOUT", "5s")
        .with("SIAGA_IMAGES__URL", images)
        .start()
}

/// Stops the database, sometimes as a crash would, and starts it again.
async fn outage(cluster: &Arc<Cluster>, client: &Client, number: u32) {
    let mode = if number.is_multiple_of(2) { "fast" } else { "immediate" };
    client.database_away(true);
    let stopped = Arc::clone(cluster);
    task::spawn_blocking(move || stopped.stop(mode)).await.unwrap();
    time::sleep(AWAY).await;
    let started = Arc::clone(cluster);
    task::spawn_blocking(move || started.start()).await.unwrap();
    time::sleep(RECOVERY).await;
    client.database_away(false);
}

/// Makes sure that the database holds what was acknowledged, once, and nothing that was never sent.
async fn check(cluster: &Cluster, written: &Written) {
    let mut connection = PgConnection::connect(&cluster.url()).await.unwrap();
    for (name, of, stored) in [
        ("states", &written.states, "SELECT username FROM flood_changes WHERE username LIKE 'soak-%'"),
        ("posts", &written.posts, "SELECT post_id::text FROM reports WHERE post_id IS NOT NULL"),
        ("cards", &written.cards, "SELECT card_id FROM reports WHERE card_id IS NOT NULL"),
        ("readings", &written.readings, "SELECT label FROM gauge_readings WHERE label LIKE 'soak-%'"),
        (
            "photos",
            &written.photos,
            "SELECT card_id FROM reports WHERE card_id IS NOT NULL AND image_url IS NOT NULL",
        ),
    ] {
        let mut stored =
            async || -> Vec<String> { sqlx::query_scalar(stored).fetch_all(&mut connection).await.unwrap() };
        // Photos are published some time after they were acknowledged.
        let missing = async || of.missing(&stored().await);
        eventually(&format!("all {name} are stored"), Duration::from_mins(1), missing, Vec::is_empty).await;
        of.check(name, &stored().await);
    }
}

#[test]
fn under_a_mixed_load_and_outages_nothing_is_lost_nothing_fails_otherwise_and_memory_stops_growing() {
    block_on(async {
        let duration = duration();
        let cluster = Arc::new(Cluster::new());
        import(&cluster);
        let images = tempfile::tempdir().unwrap();
        let service = start(&cluster, url::Url::from_directory_path(images.path()).unwrap().as_str());
        let client = Client::new(&service.authority);
        let memory = Memory::watch(service.process.id());
        let load = Load::start(&client);
        let began = Instant::now();
        // One stop and one crash at least.
        let outages = 2 + u32::try_from(duration.as_secs() / 300).unwrap();
        for number in 1..=outages {
            let until = duration * number / (outages + 1);
            time::sleep(until.saturating_sub(began.elapsed())).await;
            outage(&cluster, &client, number).await;
        }
        time::sleep(duration.saturating_sub(began.elapsed())).await;
        let written = load.end().await;
        check(&cluster, &written).await;
        client.assert_nothing_failed();
        memory.assert_stopped_growing();
        let log = service.kill();
        assert!(!log.contains("panicked"), "{log}");
    });
}
