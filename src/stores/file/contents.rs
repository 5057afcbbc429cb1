use std::sync::Arc;

use sqlx::{Sqlite, SqliteConnection};

use super::error::FileError;
use super::tables::{self, PlaceRows};
use crate::datasets::Dataset;
use crate::model::Clock;
use crate::stores::memory::{MemoryStore, Revisions};
use crate::stores::{Revision, ServiceState};
use crate::tasks::off_thread;

const COUNTS: &str = "SELECT epoch, changes, floods, reports, gauges, places, keys FROM counts";
const PUT_COUNTS: &str = "
    UPDATE counts SET changes = ?, floods = ?, reports = ?, gauges = ?, places = ?, keys = ?";

/// How often the file and its parts were changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Identifies the counting in the file: another number means that a backup was restored.
    pub(super) epoch: u64,
    /// How many transactions have changed the file: another number means that another process has.
    pub(super) changes: u64,
    pub(super) revisions: Revisions,
    pub(super) keys: Revision,
}

impl Counts {
    pub(super) async fn read(from: &mut SqliteConnection) -> Result<Self, FileError> {
        type Row = (i64, i64, i64, i64, i64, i64, i64);

        let row = sqlx::query_as::<Sqlite, Row>(COUNTS).fetch_one(from).await?;
        let (epoch, changes, floods, reports, gauges, places, keys) = row;
        let revision = |column: i64| Revision(column.cast_unsigned());
        Ok(Self {
            epoch: epoch.cast_unsigned(),
            changes: changes.cast_unsigned(),
            revisions: Revisions {
                floods: revision(floods),
                reports: revision(reports),
                gauges: revision(gauges),
                places: revision(places),
            },
            keys: revision(keys),
        })
    }

    /// Returns the counts after one more change, with the revisions of a store.
    pub(super) fn after(self, store: &MemoryStore) -> Self {
        let (changes, revisions) = (self.changes.wrapping_add(1), store.revisions());
        Self { changes, revisions, keys: store.service().keys_revision(), ..self }
    }

    pub(super) async fn write(self, to: &mut SqliteConnection) -> Result<(), FileError> {
        let Revisions { floods, reports, gauges, places } = self.revisions;
        let mut query = sqlx::query(PUT_COUNTS).bind(self.changes.cast_signed());
        for revision in [floods, reports, gauges, places, self.keys] {
            query = query.bind(revision.0.cast_signed());
        }
        query.execute(to).await?;
        Ok(())
    }
}

/// Reads the whole file as a store in memory, with an epoch of its own. Costs about 5 µs per entry of the log, and twice the memory of the data for
/// a moment.
pub(super) async fn load(
    from: &mut SqliteConnection,
    counts: Counts,
    clock: &Arc<dyn Clock>,
) -> Result<MemoryStore, FileError> {
    let dataset = dataset(from).await?;
    let service_state = ServiceState::new(Arc::clone(clock))
        .with_keys(tables::keys(from).await?, counts.keys)
        .with_images(tables::images(from).await?)
        .with_signing_key(tables::signing_key(from).await?)
        .with_last_heard(tables::sources(from).await?);
    let moves = tables::photo_moves(from).await?;
    let clock = Arc::clone(clock);
    let building = off_thread(move |_| {
        let store = MemoryStore::new(dataset, clock).with_moves(moves);
        store.going_on(service_state, counts.revisions)
    });
    building.await.map_err(|error| FileError::Database(sqlx::Error::Io(error.into())))
}

/// Reads the agency's data.
pub(super) async fn dataset(from: &mut SqliteConnection) -> Result<Dataset, FileError> {
    let rows = PlaceRows::read(from).await?;
    let decoding = off_thread(move |_| rows.places());
    let places = decoding.await.map_err(|error| FileError::Database(sqlx::Error::Io(error.into())))??;
    Ok(Dataset {
        flood_log: tables::flood_log(from).await?,
        gauges: tables::gauges(from).await?,
        reports: tables::reports(from, places.locator()).await?,
        hidden: tables::hidden(from).await?,
        erased: tables::erased(from).await?,
        moderation: tables::moderation_log(from).await?,
        cards: tables::cards(from).await?,
        partner_posts: tables::partner_posts(from).await?,
        places,
    })
}
