use std::time::Duration;

use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::bodies::GaugeReadings;
use crate::model::{AreaSelector, GaugeActivity, GaugeLayer, Mute, Timestamp};

/// Which gauges and readings to return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GaugeQuery {
    /// Only gauges that belong to this province.
    pub selector: AreaSelector,
    /// The span of time in which the readings were made.
    pub window: Window,
    /// Whether readings that failed a test or have no value are listed, too. Stores list all; the server judges them.
    pub with_failed: bool,
}

/// The least number of readings that [`GaugeStore::recent_readings`] returns of a gauge, if it has so many.
pub(super) const LEAST_RECENT: usize = GaugeActivity::READINGS;
/// The maximum number of readings that [`GaugeStore::recent_readings`] returns of a gauge.
pub(super) const MOST_RECENT: usize = 1_500;

/// Gauges and their readings.
#[async_trait]
pub trait GaugeStore {
    /// Returns the selected gauges, ordered by identifier, each with its readings in the window, oldest first. Leaves out gauges
    /// without a reading in the window.
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError>;

    /// Returns every gauge by identifier, without readings. **Default: reads all readings, and leaves out gauges that have none**
    async fn all_gauges(&self) -> Result<Versioned<GaugeLayer>, StoreError> {
        let selector = AreaSelector::default();
        let query = GaugeQuery { selector, window: Window::Last(Duration::MAX), with_failed: true };
        Ok(self.gauges(&query).await?.map(|mut gauges| {
            gauges.0.iter_mut().for_each(|gauge| gauge.observations.clear());
            gauges
        }))
    }

    /// Returns every gauge by identifier with its newest readings, oldest first, those in the future too: the readings since a time,
    /// but at least 21 and at most 1,500. The result changes only if data changes.
    ///
    /// **Default: reads all readings, and leaves out gauges that have none and readings in the future**
    async fn recent_readings(&self, since: Timestamp) -> Result<Versioned<GaugeLayer>, StoreError> {
        let selector = AreaSelector::default();
        let query = GaugeQuery { selector, window: Window::Last(Duration::MAX), with_failed: true };
        Ok(self.gauges(&query).await?.map(|mut gauges| {
            for gauge in &mut gauges.0 {
                let count = gauge.observations.len();
                let since = gauge.observations.partition_point(|reading| reading.observed_at < since);
                let first =
                    since.min(count.saturating_sub(LEAST_RECENT)).max(count.saturating_sub(MOST_RECENT));
                gauge.observations.drain(..first);
            }
            gauges
        }))
    }

    /// Returns how many readings [`gauges`](Self::gauges) would return now, but at most `most`.
    ///
    /// The server calls this method to limit the cost of [`gauges`](Self::gauges), so counting must cost much less. **Default:
    /// calls [`gauges`](Self::gauges)**, which is fast enough for a few thousand readings
    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let listed = self.gauges(query).await?.value;
        let readings: usize = listed.0.iter().map(|gauge| gauge.observations.len()).sum();
        Ok(most.min(readings as u64))
    }

    /// Stores a gauge and its readings, in one atomic change. If the gauge exists, replaces its name, its place and its readings
    /// with the same times. Returns the number of stored readings.
    ///
    /// A new or moved gauge belongs to the province in which it lies. Any other gauge keeps its province.
    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError>;

    /// Erases all readings before a time. **Default: erases nothing**
    async fn erase_readings(&self, _before: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Appends an entry to the log of a gauge. It applies from then on, and stays over later readings and imports.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such gauge.
    async fn mute_gauge(&self, id: &str, entry: Mute) -> Result<(), StoreError>;

    /// Returns the log of a gauge, newest entry first, at most [`Mute::MOST`].
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such gauge.
    async fn gauge_log(&self, id: &str) -> Result<Vec<Mute>, StoreError>;
}
