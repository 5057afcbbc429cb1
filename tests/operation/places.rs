//! Reloading of areas and provinces.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rocket::futures::future::{join, join_all};
use rocket::tokio::{self, time};
use siaga::stores::FloodQuery;
use sqlx::{Connection, Executor, PgConnection};

use crate::postgres::Database;
use crate::server::{Server, build, figment};

/// The loading sessions, all waiting for the lock. `pg_stat_activity` is not enough: a session whose wait has timed out stays
/// active there for a moment after its client got the error and may have begun the next load.
const LOADING: &str = "
    SELECT count(*) FROM pg_locks
    WHERE relation = 'regions'::regclass AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

#[rocket::async_test]
async fn a_changed_area_is_loaded_once_for_concurrent_requests() {
    let database = Database::with_fixture().await;
    let figment = figment(&database.url()).merge(("siaga.limits.timeout", "60s"));
    let server = Server::new(build(figment).await.unwrap()).await;
    assert_eq!(server.get("/v1/floods").await.0, 200);
    let mut editor = PgConnection::connect(&database.url()).await.unwrap();
    editor.execute("UPDATE areas SET area_name = 'RW 99' WHERE area_id = 2").await.unwrap();
    // Each load waits here.
    editor.execute("BEGIN; LOCK TABLE regions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let formats = ["topojson", "geojson", "cap"];
    let requests = formats.iter().flat_map(|format| {
        (1..=4).map(move |state| format!("/v1/floods?geoformat={format}&minimum_state={state}"))
    });
    let client = &server.client;
    let requested = requests.map(|target| async move { client.get(target).dispatch().await.status().code });
    let requested = join_all(requested);
    let mut watching = PgConnection::connect(&database.url()).await.unwrap();
    let watched = async {
        let mut most = 0;
        let mut first = None;
        while first.is_none_or(|first: Instant| first.elapsed() < Duration::from_millis(300)) {
            let loading: i64 = sqlx::query_scalar(LOADING).fetch_one(&mut watching).await.unwrap();
            if loading > 0 {
                first.get_or_insert_with(Instant::now);
            }
            most = most.max(loading);
        }
        editor.execute("ROLLBACK").await.unwrap();
        most
    };
    let (statuses, most) = join(requested, watched).await;
    assert_eq!(statuses, [200; 12]);
    assert_eq!(most, 1);
    assert!(server.get("/v1/floods").await.1.to_string().contains("RW 99"));
}

/// Loads the areas. Returns the duration, and the longest time the thread was blocked.
async fn loading(server: &Server) -> (Duration, Duration) {
    let loaded = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&loaded);
    let beside = tokio::spawn(async move {
        let mut longest = Duration::ZERO;
        while !ended.load(Ordering::Relaxed) {
            let waiting = Instant::now();
            // The sampling interval.
            time::sleep(Duration::from_millis(1)).await;
            longest = longest.max(waiting.elapsed());
        }
        longest
    });
    let begun = Instant::now();
    server.store.flood_states(&FloodQuery::default()).await.unwrap();
    let took = begun.elapsed();
    loaded.store(true, Ordering::Relaxed);
    (took, beside.await.unwrap())
}

#[test]
fn geometry_is_decoded_and_indexed_off_the_serving_threads() {
    // With a single thread, blocking work is visible as a delay.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = Database::with_fixture().await;
        let figment = figment(&database.url()).merge(("siaga.limits.timeout", "60s"));
        let server = Server::new(build(figment).await.unwrap()).await;
        let mut editor = PgConnection::connect(&database.url()).await.unwrap();
        let areas = "INSERT INTO areas
            SELECT 1000 + number, '', 'RW', '', '', 'jbd', 'ID-JK',
                   ST_Multi(ST_Buffer(ST_SetSRID(ST_MakePoint(number / 100.0, 0), 4326), 0.01, 'quad_segs=1000'))
            FROM generate_series(1, 100) AS number";
        editor.execute(areas).await.unwrap();
        // On a busy machine other programs may delay the thread, but not in every round.
        let mut measured = Vec::new();
        for name in ["RW 1", "RW 2", "RW 3"] {
            sqlx::query("UPDATE areas SET area_name = $1").bind(name).execute(&mut editor).await.unwrap();
            let (took, longest) = loading(&server).await;
            if longest < took / 2 {
                return;
            }
            measured.push((took, longest));
        }
        panic!("nothing else is done for most of the time: {measured:?}");
    });
}
