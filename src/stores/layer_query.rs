use std::sync::Arc;
use std::time::Duration;

use super::{
    FloodQuery, GaugeQuery, InfrastructureQuery, ReportQuery, Resource, Store, StoreError, Versioned,
};
use crate::model::{AreaId, AreaSelector, FloodFeature, FloodLayer, FloodState, Layer, ReportKey, Timestamp};

/// A question that a store answers with a layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LayerQuery {
    /// Areas with their flood state.
    Floods(FloodQuery),
    /// An area, if the state it has was set in the second that begins at this time.
    FloodSince(AreaId, Timestamp),
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
            Self::Floods(_) | Self::FloodSince(..) => Resource::Floods,
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
    /// [`StoreError::NotFound`] of one report or one area, [`StoreError::Unavailable`].
    pub async fn ask(&self, store: &dyn Store) -> Result<Versioned<Layer>, StoreError> {
        Ok(match self {
            Self::Floods(query) => store.floods(query).await?.map(Layer::Floods),
            Self::FloodSince(area, since) => flood_since(store, *area, *since).await?.map(Layer::Floods),
            Self::Reports(query) => store.reports(query).await?.map(Layer::Reports),
            Self::Report(key) => store.report(*key).await?.map(|report| Layer::Reports(vec![report].into())),
            Self::Gauges(query) => store.gauges(query).await?.map(Layer::Gauges),
            Self::Infrastructure(query) => store.infrastructure(query).await?.map(Layer::Infrastructure),
            Self::Boundaries(code) => store.boundaries(code.as_deref()).await?.map(Layer::Boundaries),
        })
    }
}

/// The layer of one area, whose state was set in the second that begins at this time.
async fn flood_since(
    store: &dyn Store,
    area: AreaId,
    since: Timestamp,
) -> Result<Versioned<FloodLayer>, StoreError> {
    let flooded = FloodQuery { selector: AreaSelector::default(), minimum_state: Some(FloodState::Unknown) };
    let found = store.floods(&flooded).await?;
    let is_asked = |flood: FloodFeature<'_>| {
        let set = flood.standing.map(|standing| standing.since.floor(Duration::from_secs(1)));
        flood.area.id == area && set == Some(since)
    };
    let Some(index) = found.value.features().position(is_asked) else {
        return Err(StoreError::NotFound { what: format!("the alert of area {area} at {since}") });
    };
    Ok(found.map(|floods| FloodLayer::new(Arc::clone(floods.areas()), vec![floods.selected()[index]])))
}
