use std::time::Duration;

use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::bodies::GaugeReadings;
use crate::model::{AreaSelector, GaugeLayer};

/// Which gauges and readings to return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GaugeQuery {
    /// Only gauges that this province lists.
    pub selector: AreaSelector,
    /// When the readings were made.
    pub window: Window,
}

/// Gauges and their readings.
#[async_trait]
pub trait GaugeStore {
    /// Returns the selected gauges by identifier, each with its readings within the window, oldest first. Leaves out gauges
    /// without a reading in the window.
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError>;

    /// Returns every gauge by identifier, without readings. **Default: reads all readings, and omits gauges without any**
    async fn all_gauges(&self) -> Result<Versioned<GaugeLayer>, StoreError> {
        let query = GaugeQuery { selector: AreaSelector::default(), window: Window::Last(Duration::MAX) };
        Ok(self.gauges(&query).await?.map(|mut gauges| {
            gauges.0.iter_mut().for_each(|gauge| gauge.observations.clear());
            gauges
        }))
    }

    /// Returns how many readings [`gauges`](Self::gauges) would list now, at most `most`.
    ///
    /// Used to limit that read's cost, so it must cost much less. **Default: reads the list**, which is fast enough for a few
    /// thousand readings
    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let listed = self.gauges(query).await?.value;
        let readings: usize = listed.0.iter().map(|gauge| gauge.observations.len()).sum();
        Ok(most.min(readings as u64))
    }

    /// Stores a gauge and its readings, as one change. Replaces the name and place of a gauge with the same identifier, and its
    /// readings with the same times. Returns how many readings were stored.
    ///
    /// A new or moved gauge belongs to the province in which it lies; any other gauge stays with the province that lists it.
    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError>;
}
