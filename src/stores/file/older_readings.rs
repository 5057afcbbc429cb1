use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::Semaphore;

use super::database::Database;
use super::error::FileError;
use super::tables;
use crate::model::{Clock, GaugeLayer, ObservedGauge, Timestamp};
use crate::stores::local::{HELD_READINGS, LocalStore};
use crate::stores::{Decorator, GaugeQuery, Store, StoreError, Versioned};

/// The store in the file, which reads from the file what the local store no longer holds in memory: readings older than a day.
#[derive(Debug)]
pub(super) struct OlderReadings {
    local: LocalStore,
    database: Database,
    clock: Arc<dyn Clock>,
    /// Limits how many connections read at once.
    permits: Semaphore,
}

const READERS: usize = 2;
const RETRY_AFTER: Duration = Duration::from_secs(2);

impl OlderReadings {
    pub(super) fn new(local: LocalStore, database: Database, clock: Arc<dyn Clock>) -> Self {
        Self { local, database, clock, permits: Semaphore::new(READERS) }
    }

    /// Returns the bounds of the query's window if it begins before the readings in memory.
    fn older(&self, query: &GaugeQuery) -> Option<[Timestamp; 2]> {
        let now = self.clock.now();
        let (first, last) = query.window.bounds(now);
        (first < now.saturating_sub(HELD_READINGS)).then_some([first, last])
    }

    /// Reads from the file, which has all changes that were acknowledged before.
    async fn read<T>(
        &self,
        read: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, FileError>,
    ) -> Result<T, StoreError> {
        let _permit = self.permits.acquire().await;
        let read = async {
            let mut connection = self.database.connect().await?;
            let rows = read(&mut connection).await?;
            connection.close().await?;
            Ok::<_, FileError>(rows)
        };
        read.await.map_err(|error| StoreError::Unavailable { retry_after: RETRY_AFTER, source: error.into() })
    }
}

impl fmt::Display for OlderReadings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.local.fmt(f)
    }
}

#[async_trait]
impl Decorator for OlderReadings {
    fn inner(&self) -> &dyn Store {
        &self.local
    }

    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError> {
        if self.older(query).is_none() {
            return self.inner().gauges(query).await;
        }
        // Read first, so that the readings are at least as new as this revision. Its validity counts the readings in memory.
        let held = self.inner().gauges(query).await?;
        let all = self.inner().all_gauges().await?.value;
        // By now the clock may have reached readings that were ahead of it.
        let Some(period) = self.older(query) else { return Ok(held) };
        let selector = &query.selector;
        let rows = self.read(async |from| tables::readings_between(from, period, selector).await).await?;
        let mut readings: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (gauge, reading) in rows {
            readings.entry(gauge).or_default().push(reading);
        }
        let with_readings = all.0.into_iter().filter_map(|gauge| {
            let observations = readings.remove(&*gauge.gauge.id)?;
            Some(ObservedGauge::new(gauge.gauge, observations))
        });
        let layer = GaugeLayer(with_readings.collect());
        let until_oldest_leaves = query.window.validity(self.clock.now(), layer.oldest(), None);
        Ok(Versioned::new(held.revision, layer).within(held.validity.and(until_oldest_leaves)))
    }

    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let Some(period) = self.older(query) else { return self.inner().count_readings(query, most).await };
        self.read(async |from| tables::count_readings(from, period, &query.selector, most).await).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fixture::{self, place};
    use crate::model::bodies::{GaugeReadings, SettingsUpdate};
    use crate::model::{AreaSelector, ManualClock, Observation};
    use crate::stores::Window;
    use crate::stores::file::{schema, writer};

    async fn open(database: &Database, clock: &Arc<ManualClock>) -> Arc<dyn Store> {
        let mut connection = database.connect().await.unwrap();
        schema::migrate(&mut connection).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
        let timeout = Duration::from_secs(10);
        let opened = writer::open(database.clone(), connection, None, Arc::clone(&clock), timeout);
        Arc::new(OlderReadings::new(opened.await.unwrap().0, database.clone(), clock))
    }

    fn sent(id: &str, hours_ago: impl IntoIterator<Item = u64>) -> GaugeReadings {
        let reading = |hours: u64| {
            let observed_at = fixture::now().saturating_sub(Duration::from_hours(hours));
            Observation { observed_at, ..fixture::reading(0, hours as f64) }.into()
        };
        GaugeReadings {
            id: id.to_owned(),
            name: id.to_owned(),
            location: place(0.5, 0.5),
            settings: SettingsUpdate::default(),
            observations: hours_ago.into_iter().map(reading).collect(),
        }
    }

    #[tokio::test]
    async fn a_reopened_file_has_the_newest_readings_in_memory_and_all_others_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::new(folder.path().join("siaga.db"), Duration::from_secs(10));
        database.create().unwrap();
        let clock = Arc::new(ManualClock::new(fixture::now()));
        let store = open(&database, &clock).await;
        store.store_gauge(sent("dead", 240..245)).await.unwrap();
        store.store_gauge(sent("hourly", 0..100)).await.unwrap();
        let counts = async |store: &dyn Store| {
            let recent = store.recent_readings(fixture::now().saturating_sub(Duration::from_hours(2))).await;
            let window = Window::Last(Duration::from_hours(24 * 30));
            let query = GaugeQuery { selector: AreaSelector::default(), window, with_failed: true };
            let all = store.gauges(&query).await.unwrap().value;
            let number = |layer: GaugeLayer| -> Vec<_> {
                layer.0.iter().map(|gauge| gauge.observations.len()).collect()
            };
            (number(recent.unwrap().value), number(all))
        };
        let expected = (vec![5, 21], vec![5, 100]);
        assert_eq!(counts(&*store).await, expected);
        store.close().await;
        let reopened = open(&database, &clock).await;
        assert_eq!(counts(&*reopened).await, expected, "after a restart");
        reopened.erase_readings(fixture::now().saturating_sub(Duration::from_hours(50))).await.unwrap();
        assert_eq!(counts(&*reopened).await.1, [51], "the dead gauge has none");
        reopened.close().await;
    }
}
