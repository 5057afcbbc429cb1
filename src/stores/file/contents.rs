use sqlx::{Sqlite, SqliteConnection};

use super::error::FileError;
use super::tables;
use crate::data::folder::Dataset;
use crate::model::{ObservedGauge, Timestamp};
use crate::runtime::off_thread;
use crate::stores::Revision;
use crate::stores::local::{HELD_READINGS, Revisions, State};
use crate::stores::service_state::Service;

const COUNTS: &str = "SELECT epoch, changes, floods, reports, gauges, places, keys FROM counts";
const PUT_COUNTS: &str = "
    UPDATE counts SET changes = ?, floods = ?, reports = ?, gauges = ?, places = ?, keys = ?";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Identifies the sequence of revisions; changes when a backup is restored.
    pub(super) epoch: u64,
    /// The number of committed transactions. If the number in the file differs, another process has written to the file.
    pub(super) commits: u64,
    pub(super) revisions: Revisions,
    pub(super) keys: Revision,
}

impl Counts {
    pub(super) async fn read(from: &mut SqliteConnection) -> Result<Self, FileError> {
        type Row = (i64, i64, i64, i64, i64, i64, i64);

        let row = sqlx::query_as::<Sqlite, Row>(COUNTS).fetch_one(from).await?;
        let (epoch, commits, floods, reports, gauges, places, keys) = row;
        let revision = |column: i64| Revision(column.cast_unsigned());
        Ok(Self {
            epoch: epoch.cast_unsigned(),
            commits: commits.cast_unsigned(),
            revisions: Revisions {
                floods: revision(floods),
                reports: revision(reports),
                gauges: revision(gauges),
                places: revision(places),
            },
            keys: revision(keys),
        })
    }

    pub(super) fn next(self, state: &State) -> Self {
        let (commits, revisions) = (self.commits.wrapping_add(1), state.revisions());
        Self { commits, revisions, keys: state.keys_revision(), ..self }
    }

    pub(super) async fn write(self, to: &mut SqliteConnection) -> Result<(), FileError> {
        let Revisions { floods, reports, gauges, places } = self.revisions;
        let mut query = sqlx::query(PUT_COUNTS).bind(self.commits.cast_signed());
        for revision in [floods, reports, gauges, places, self.keys] {
            query = query.bind(revision.0.cast_signed());
        }
        query.execute(to).await?;
        Ok(())
    }
}

/// Reads the whole file into a new state with its own epoch. Costs about 5 µs per log entry, and briefly twice the data's memory.
pub(super) async fn load(
    from: &mut SqliteConnection,
    counts: Counts,
    now: Timestamp,
) -> Result<State, FileError> {
    let held = tables::held_gauges(from, now.saturating_sub(HELD_READINGS)).await?;
    let dataset = dataset_with(from, held).await?;
    let service = Service {
        keys: tables::keys(from, counts.keys).await?,
        uploads: tables::images(from).await?.into_iter().collect(),
        signing_key: tables::signing_key(from).await?,
        last_heard: tables::SOURCES.all(from).await?.into_iter().collect(),
        webhooks: tables::WEBHOOKS.all(from).await?.into_iter().collect(),
        push: tables::PUSH_RECORDS.all(from).await?.into_iter().collect(),
    };
    let batches = tables::FLOOD_BATCHES.all(from).await?;
    let moves = tables::PHOTO_MOVES.all(from).await?;
    let waiting = tables::WAITING_REPORTS.all(from).await?;
    let logs = tables::gauge_logs(from).await?;
    let building = off_thread(move |_| {
        State::new(dataset, now).with_stored(batches, service, waiting, moves, logs, counts.revisions)
    });
    building.await.map_err(FileError::panicked)
}

pub(super) async fn dataset(from: &mut SqliteConnection) -> Result<Dataset, FileError> {
    let gauges = tables::gauges(from).await?;
    dataset_with(from, gauges).await
}

async fn dataset_with(from: &mut SqliteConnection, gauges: Vec<ObservedGauge>) -> Result<Dataset, FileError> {
    let places = tables::places(from).await?;
    Ok(Dataset {
        flood_log: tables::flood_log(from).await?,
        gauges,
        reports: tables::reports(from, places.locator()).await?,
        hidden: tables::hidden(from).await?,
        erased: tables::ERASED_REPORTS.all(from).await?,
        moderation: tables::MODERATION_LOG.all(from).await?,
        cards: tables::CARDS.all(from).await?,
        partner_posts: tables::PARTNER_POSTS.all(from).await?,
        places,
    })
}
