//! Times since when areas are flooded and confirmed: after a restart, and migrated from earlier versions.

use std::sync::Arc;
use std::time::Duration;

use siaga::model::alerts::LogEntry;
use siaga::model::{
    Actor, AreaId, AreaLimit, AreaSelector, BatchItem, BatchOperation, BatchOutcome, BatchRequest, Condition,
    FloodStatus, ManualClock, Timestamp,
};
use siaga::stores::file::OpenFile;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{EntryQuery, FloodQuery, OpenStore, Store, StoreSettings};
use sqlx::{Connection, Executor, PgConnection};

use crate::fixture::{id, now, state};
use crate::postgres::Database;
use crate::store_file::StoreFile;

const MIGRATION: &str = include_str!("../../migrations/0022_flood_times.sql");

/// Restores the tables from before the migration.
const BEFORE: &str = "
    DROP TRIGGER follow_flood_log ON flood_changes;
    DROP FUNCTION follow_flood_log();
    DROP VIEW flood_times;
    ALTER TABLE flood_changes DROP COLUMN since, DROP COLUMN confirmed_at, DROP COLUMN received_at;
    DROP INDEX flood_batches_changed_at;
    ALTER TABLE flood_batches ADD CONSTRAINT flood_batches_changed_at_key UNIQUE (changed_at);
    CREATE VIEW flood_runs AS SELECT area_id FROM flood_changes;
    CREATE FUNCTION continue_flood_run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
    CREATE TRIGGER continue_flood_run BEFORE INSERT ON flood_changes
        FOR EACH ROW EXECUTE FUNCTION continue_flood_run();";

/// The status of each area, and all entries with their times.
type Snapshot = (Vec<(AreaId, FloodStatus)>, Vec<(AreaId, Vec<LogEntry>)>);

async fn shown(store: &dyn Store) -> Snapshot {
    let layer = store.floods(&FloodQuery::default()).await.unwrap().value;
    let status = |flood: siaga::model::FloodFeature<'_>| {
        let dry = FloodStatus::Dry { cleared: None, over_since: flood.over_since };
        (flood.area.id, flood.current.map_or(dry, FloodStatus::Flooded))
    };
    let (selector, from, until) = (AreaSelector::default(), Timestamp::EPOCH, Timestamp::LAST);
    let query = EntryQuery { selector, area: None, from, until };
    (layer.features().map(status).collect(), store.flood_entries(&query).await.unwrap().value)
}

/// A flood, a confirmation and an all clear that are undone, and a mistake that is undone.
async fn flood(store: &dyn Store, clock: &ManualClock) {
    let mut hour = 0;
    let mut apply_batch = async |changes: BatchOperation| {
        hour += 1;
        clock.set(now().saturating_add(Duration::from_hours(hour)));
        let by = Actor { subject: "desk".to_owned(), username: None };
        let apply_batch = BatchRequest {
            changes,
            by,
            limit: AreaLimit::Everywhere,
            note: None,
            request: None,
            preview: false,
        };
        let BatchOutcome::Done { batch, .. } = store.change_floods(apply_batch).await.unwrap() else {
            panic!("not done")
        };
        batch.number
    };
    let set = |areas: &[(u64, Option<u64>)]| {
        let area = |&(area, code): &(u64, Option<u64>)| BatchItem {
            area: id(area),
            state: code.map(state),
            after: Condition::Any,
        };
        BatchOperation::Set(areas.iter().map(area).collect())
    };

    apply_batch(set(&[(1, Some(2)), (10, Some(3))])).await;
    let confirmed = apply_batch(set(&[(10, Some(3))])).await;
    apply_batch(BatchOperation::Undo(confirmed)).await;
    let clear = apply_batch(set(&[(1, None), (10, None), (5, None)])).await;
    let undone = apply_batch(BatchOperation::Undo(clear)).await;
    apply_batch(BatchOperation::Undo(undone)).await;
    let mistake = apply_batch(set(&[(2, Some(4))])).await;
    apply_batch(BatchOperation::Undo(mistake)).await;
    apply_batch(set(&[(1, Some(1)), (30, Some(3))])).await;
}

#[rocket::async_test]
async fn a_log_of_an_earlier_version_gets_its_times_from_its_batches() {
    let database = Database::with_fixture().await;
    let clock = Arc::new(ManualClock::new(now()));
    let settings = || StoreSettings::new(database.figment(), Arc::clone(&clock) as _);
    let store = OpenPostgres.open(&settings()).await.unwrap().store;
    flood(&*store, &clock).await;
    let before = shown(&*store).await;
    store.close().await;
    drop(store);

    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    connection.execute(BEFORE).await.unwrap();
    connection.execute(MIGRATION).await.unwrap();
    let store = OpenPostgres.open(&settings()).await.unwrap().store;
    assert_eq!(shown(&*store).await, before);
    store.close().await;
}

#[rocket::async_test]
async fn a_restart_with_the_file_store_keeps_the_undone_batches() {
    let file = StoreFile::with_fixture().await;
    let clock = Arc::new(ManualClock::new(now()));
    let settings = || StoreSettings::new(file.figment(), Arc::clone(&clock) as _);
    let store = OpenFile.open(&settings()).await.unwrap().store;
    flood(&*store, &clock).await;
    let before = shown(&*store).await;
    store.close().await;
    drop(store);
    let store = OpenFile.open(&settings()).await.unwrap().store;
    assert_eq!(shown(&*store).await, before);
    store.close().await;
}
