use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::intake::GaugeReadings;
use crate::model::{AreaSelector, GaugeLayer};

/// Which gauges are asked for.
#[derive(Clone, Debug)]
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

    /// Stores a gauge and its readings, as one change; what is stored already under the gauge's identifier, or
    /// under a reading's time, is replaced. Answers how many readings were stored.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn store_gauge(&self, readings: GaugeReadings) -> Result<usize, StoreError>;
}
