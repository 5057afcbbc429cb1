//! Imports into a live store.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;
use siaga::model::Gauge;
use siaga::model::bodies::{GaugeReadings, SettingsUpdate};
use siaga::stores::ReceiveOutcome;
use sqlx::{Connection, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::fixture;
use crate::folders::{long_folder, states};
use crate::operations::{KEYS, WRONG_RUNS, post, state_codes, write};
use crate::operator::Operator;

/// Above the number of the fixture's post.
const NEW_POST: i64 = 10_000;

#[rocket::async_test]
async fn writes_during_an_import_neither_fail_nor_get_lost() {
    let (operator, store) = Operator::live().await;
    let operator = Arc::new(operator);
    let folder = long_folder();
    let done = Arc::new(AtomicBool::new(false));
    let writers = (0..4i64).map(|writer| {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        tokio::spawn(async move {
            let (mut written, mut at) = (0, Vec::new());
            while !done.load(Ordering::SeqCst) || written < 10 {
                let areas = [1, 2, 5, 10, 30];
                let area = areas[usize::try_from(written + writer).unwrap() % areas.len()];
                let code = u64::try_from(written % 5).unwrap();
                let change = store.set_flood_state(write(area, (code > 0).then_some(code))).await.unwrap();
                at.push((change.area.number().cast_signed(), change.at.to_utc()));
                let received =
                    store.receive_partner_report(post(NEW_POST + written * 4 + writer, 0.5, 0.5)).await;
                assert_eq!(received.unwrap(), ReceiveOutcome::Created);
                written += 1;
            }
            (written, at)
        })
    });
    let writers: Vec<_> = writers.collect();
    let posts = async || operator.count("SELECT count(*) FROM reports WHERE post_id IS NOT NULL").await;
    let before = posts().await;
    eventually("posts are written", LONG, posts, |posts| *posts > before + 8).await;
    let imported = operator.import(folder.path()).await;
    done.store(true, Ordering::SeqCst);
    imported.unwrap();
    let (mut posts, mut changes) = (0, Vec::new());
    for written in join_all(writers).await {
        let (count, at) = written.unwrap();
        posts += count;
        changes.extend(at);
    }

    let logged = "SELECT area_id, changed_at FROM flood_changes WHERE subject = 'test' ORDER BY 1, 2";
    let logged: Vec<(i64, chrono::DateTime<chrono::Utc>)> = operator.rows(logged).await;
    changes.sort_unstable();
    assert_eq!(logged, changes, "each acknowledged change, and no other");
    let stale = "
        SELECT count(*) FROM flood_states FULL JOIN (
            SELECT DISTINCT ON (area_id) area_id, state, changed_at FROM flood_changes
            ORDER BY area_id, changed_at DESC
        ) newest USING (area_id)
        WHERE (flood_states.state, flood_states.changed_at) IS DISTINCT FROM (newest.state, newest.changed_at)";
    assert_eq!(operator.count(stale).await, 0, "states that are not the newest of the log");
    assert_eq!(operator.count(WRONG_RUNS).await, 0, "runs that do not follow from the log");
    assert_eq!(operator.count("SELECT count(*) FROM reports WHERE post_id <> 4711").await, posts);
    let imported = operator.count("SELECT count(*) FROM reports WHERE post_id IS NULL AND pkey > 8").await;
    assert_eq!(imported, 12_000);
    let keys = operator.numbers(KEYS).await;
    assert!(keys.is_sorted_by(|a, b| a < b), "each key once");
}

#[rocket::async_test]
async fn a_long_import_blocks_no_writer_before_it_reaches_the_reports() {
    let (operator, store) = Operator::live().await;
    let operator = Arc::new(operator);
    let mut holder = PgConnection::connect(&operator.database().url()).await.unwrap();
    let mut held = holder.begin().await.unwrap();
    sqlx::query("LOCK TABLE cards IN ROW EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    let importing = tokio::spawn({
        let operator = Arc::clone(&operator);
        async move {
            let folder = operator.export().await;
            fs::write(folder.path().join("flood_states.csv"), states("5,3,2016-12-19T16:00:00Z,,\n").1)
                .unwrap();
            operator.import(folder.path()).await
        }
    });
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'cards'::regclass";
    let waiting = async || {
        assert!(!importing.is_finished(), "it waits for nobody");
        operator.count(waiting).await
    };
    eventually("the import waits", LONG, waiting, |waiting| *waiting > 0).await;
    let writing = async {
        store.set_flood_state(write(5, Some(4))).await.unwrap();
        let Gauge { id, name, location, .. } = (*fixture::gauges()[0].gauge).clone();
        let readings = GaugeReadings {
            id,
            name,
            location,
            settings: SettingsUpdate::default(),
            observations: vec![fixture::reading(1, 50.0).into()],
        };
        store.store_gauge(readings).await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(2), writing).await.unwrap();
    held.rollback().await.unwrap();
    importing.await.unwrap().unwrap();
    assert_eq!(state_codes(&*store).await, [(5, 4), (30, 3)], "the live one is newer");
}
