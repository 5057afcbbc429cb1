use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::intake::GaugeReadings;
use crate::model::{AreaSelector, GaugeLayer};

/// Which gauges are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GaugeQuery {
    /// Gauges listed by a province only.
    pub selector: AreaSelector,
    /// When they were read.
    pub window: Window,
}

/// Gauges and their readings.
#[async_trait]
pub trait GaugeStore {
    /// The gauges asked for by their identifier, each with its readings of the window, oldest first; gauges without
    /// one are absent.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn gauges(&self, query: &GaugeQuery) -> Result<Versioned<GaugeLayer>, StoreError>;

    /// How many readings [`gauges`](Self::gauges) would list now, counted up to `most` and no further.
    ///
    /// Asked before a list is read, to bound what that takes: it must cost much less than the list. **Default: reads the
    /// list**, which suits a store of a few thousand readings
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn count_readings(&self, query: &GaugeQuery, most: u64) -> Result<u64, StoreError> {
        let listed = self.gauges(query).await?.value;
        let readings: usize = listed.0.iter().map(|gauge| gauge.observations.len()).sum();
        Ok(most.min(readings as u64))
    }

    /// Stores a gauge and its readings, as one change; a name and a place stored already under the gauge's identifier,
    /// and a reading under its time, are replaced. Answers how many readings were stored.
    ///
    /// A gauge belongs to the province it lies in, but one that is known and has not moved stays with the province that
    /// lists it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError>;
}
