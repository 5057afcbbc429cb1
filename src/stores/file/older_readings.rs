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
        let Some(period) = self.older(query) else { return self.inner().gauges(query).await };
        // Read first, so that the readings are at least as new as this revision. Its validity counts the readings in memory.
        let held = self.inner().gauges(query).await?;
        let all = self.inner().all_gauges().await?.value;
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
