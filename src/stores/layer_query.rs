use std::sync::Arc;
use std::time::Duration;

use super::areas::places_with_cities;
use super::{
    AlertQuery, AreaQuery, FloodQuery, GaugeListQuery, HistoryQuery, ReportQuery, Resource, Store,
    StoreError, Versioned,
};
use crate::model::{
    AreaId, AreaSelector, CurrentState, FloodFeature, FloodLayer, FloodState, FloodStatus,
    InfrastructureKind, Layer, LayerKind, Period, ReportKey, Timestamp,
};

/// A query whose result is a layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LayerQuery {
    /// Areas with their flood state.
    Floods(FloodQuery),
    /// An area whose current state was last set within the second that begins at this time.
    FloodSince(AreaId, Timestamp),
    /// Reports.
    Reports(ReportQuery),
    /// One report.
    Report(ReportKey),
    /// Gauges with their readings.
    Gauges(GaugeListQuery),
    /// Floodgates, pumps and waterways, or one kind of them.
    Infrastructure(AreaSelector, Option<InfrastructureKind>),
    /// The boundaries of all provinces, or of the province with this code.
    Boundaries(Option<String>),
    /// Alerts about floods. `true` marks the layer as possibly incomplete, because a source of flood states is silent.
    Alerts(AlertQuery, bool),
    /// Geometry of areas.
    Areas(AreaQuery),
    /// The boundaries of all cities, or of the city with this identifier ([`City`](crate::model::City)).
    Cities(Option<String>),
    /// One area, flooded or dry.
    Flood(AreaId),
    /// All areas with the states that were in effect at this time.
    FloodsAt(Timestamp),
}

impl LayerQuery {
    /// Returns the kind of the layer.
    #[must_use]
    pub fn kind(&self) -> LayerKind {
        match self {
            Self::Floods(_) | Self::FloodSince(..) | Self::Flood(_) | Self::FloodsAt(_) => LayerKind::Floods,
            Self::Reports(_) | Self::Report(_) => LayerKind::Reports,
            Self::Gauges(_) => LayerKind::Gauges,
            Self::Infrastructure(..) => LayerKind::Infrastructure,
            Self::Boundaries(_) => LayerKind::Boundaries,
            Self::Alerts(..) => LayerKind::Alerts,
            Self::Areas(_) | Self::Cities(_) => LayerKind::Areas,
        }
    }

    /// Returns the resource whose changes affect the layer.
    #[must_use]
    pub fn resource(&self) -> Resource {
        match self.kind() {
            LayerKind::Floods | LayerKind::Alerts => Resource::Floods,
            LayerKind::Reports => Resource::Reports,
            LayerKind::Gauges => Resource::Gauges,
            LayerKind::Infrastructure | LayerKind::Boundaries | LayerKind::Areas => Resource::Places,
        }
    }

    /// Runs the query on a store. `now` is the time for alerts and gauges; all other queries use the store's own clock.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if the requested report, area or alert does not exist. Otherwise the error of the store.
    pub async fn run(&self, store: &dyn Store, now: Timestamp) -> Result<Versioned<Layer>, StoreError> {
        Ok(match self {
            Self::Floods(query) => {
                store.floods(query).await?.map(|layer| Layer::Floods(layer.at(query.path("floods"))))
            }
            Self::FloodSince(area, since) => flood_since(store, *area, *since).await?.map(Layer::Floods),
            Self::Reports(query) => store.reports(query).await?.map(Layer::Reports),
            Self::Report(key) => store.report(*key).await?.map(|report| Layer::Reports(vec![report].into())),
            Self::Gauges(query) => query.run(store, now).await?.map(Layer::Gauges),
            Self::Infrastructure(selector, kind) => store
                .places()
                .await?
                .map(|places| Layer::Infrastructure(places.infrastructure_layer(selector, *kind))),
            Self::Boundaries(code) => {
                store.places().await?.map(|places| Layer::Boundaries(places.boundary_layer(code.as_deref())))
            }
            Self::Alerts(query, source_silent) => {
                query.run(store, now).await?.map(|layer| Layer::Alerts(layer.doubtful(*source_silent)))
            }
            Self::Areas(query) => query.run(store).await?.map(Layer::Areas),
            Self::Cities(id) => {
                places_with_cities(store).await?.map(|places| Layer::Areas(places.city_layer(id.as_deref())))
            }
            Self::Flood(area) => flood(store, *area).await?.map(Layer::Floods),
            Self::FloodsAt(moment) => floods_at(store, *moment).await?.map(Layer::Floods),
        })
    }
}

/// Returns a layer with only this area, flooded or dry.
async fn flood(store: &dyn Store, area: AreaId) -> Result<Versioned<FloodLayer>, StoreError> {
    let floods = store.floods(&FloodQuery::default()).await?;
    let Some(index) = floods.value.features().position(|flood| flood.area.id == area) else {
        return Err(StoreError::no_area(area));
    };
    Ok(floods.map(|floods| FloodLayer::new(Arc::clone(floods.areas()), vec![floods.selected()[index]])))
}

/// Returns all areas with their states at a moment, read from the log.
async fn floods_at(store: &dyn Store, moment: Timestamp) -> Result<Versioned<FloodLayer>, StoreError> {
    let period = Period::new(moment, moment, Duration::ZERO);
    let period = period.map_err(|error| StoreError::Backend { source: Box::new(error) })?;
    let query = HistoryQuery { selector: AreaSelector::default(), period };
    let archive = store.flood_archive(&query).await?;
    // Reads the areas after the log: the result has the revision of the log, so its areas must not be older than the log.
    let areas = Arc::clone(store.places().await?.value.areas());
    Ok(archive.map(|records| {
        let status = |id: AreaId| match records.binary_search_by_key(&id, |record| record.area_id) {
            Ok(index) => FloodStatus::Flooded(CurrentState {
                state: records[index].max_state,
                last_updated: records[index].last_updated,
                flooded_since: None,
                confirmed: None,
            }),
            Err(_) => FloodStatus::NEVER_FLOODED,
        };
        let states = areas.iter().map(|area| status(area.id)).enumerate().collect();
        FloodLayer::new(areas, states)
    }))
}

/// Returns a layer with only this area, if its current state was last set within the second that begins at `since`.
async fn flood_since(
    store: &dyn Store,
    area: AreaId,
    since: Timestamp,
) -> Result<Versioned<FloodLayer>, StoreError> {
    let query = FloodQuery { selector: AreaSelector::default(), minimum_state: Some(FloodState::Unknown) };
    let floods = store.floods(&query).await?;
    let is_selected = |flood: FloodFeature<'_>| {
        let set = flood.current.map(|current| current.last_updated.floor(Duration::from_secs(1)));
        flood.area.id == area && set == Some(since)
    };
    let Some(index) = floods.value.features().position(is_selected) else {
        return Err(StoreError::NotFound { what: format!("the alert of area {area} at {since}") });
    };
    Ok(floods.map(|floods| FloodLayer::new(Arc::clone(floods.areas()), vec![floods.selected()[index]])))
}
