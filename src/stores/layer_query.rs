use super::{
    FloodQuery, GaugeQuery, InfrastructureQuery, ReportQuery, Resource, Store, StoreError, Versioned,
};
use crate::model::{Layer, ReportKey, ReportLayer};

/// A question that a store answers with a layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LayerQuery {
    /// Areas with their flood state.
    Floods(FloodQuery),
    /// Reports.
    Reports(ReportQuery),
    /// One report.
    Report(ReportKey),
    /// Gauges with their readings.
    Gauges(GaugeQuery),
    /// Floodgates, pumps and waterways.
    Infrastructure(InfrastructureQuery),
    /// All provinces, or the one of a code.
    Boundaries(Option<String>),
}

impl LayerQuery {
    /// The resource it is about.
    #[must_use]
    pub fn resource(&self) -> Resource {
        match self {
            Self::Floods(_) => Resource::Floods,
            Self::Reports(_) | Self::Report(_) => Resource::Reports,
            Self::Gauges(_) => Resource::Gauges,
            Self::Infrastructure(_) => Resource::Infrastructure,
            Self::Boundaries(_) => Resource::Boundaries,
        }
    }

    /// What the store has.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] of one report, [`StoreError::Unavailable`].
    pub async fn ask(&self, store: &dyn Store) -> Result<Versioned<Layer>, StoreError> {
        Ok(match self {
            Self::Floods(query) => store.floods(query).await?.map(Layer::Floods),
            Self::Reports(query) => store.reports(query).await?.map(Layer::Reports),
            Self::Report(key) => {
                store.report(*key).await?.map(|report| Layer::Reports(ReportLayer(vec![report])))
            }
            Self::Gauges(query) => store.gauges(query).await?.map(Layer::Gauges),
            Self::Infrastructure(query) => store.infrastructure(query).await?.map(Layer::Infrastructure),
            Self::Boundaries(code) => store.boundaries(code.as_deref()).await?.map(Layer::Boundaries),
        })
    }
}
