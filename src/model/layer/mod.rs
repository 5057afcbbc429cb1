//! Layers: what stores give and formats write.

mod boundaries;
mod floods;
mod gauges;
mod infrastructure;
mod reports;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::boundaries::{BoundaryLayer, BoundaryProperties};
pub(crate) use self::floods::{FloodCondition, FloodIdentity};
pub use self::floods::{FloodFeature, FloodLayer, FloodProperties, FloodStateRecord};
pub use self::gauges::{GaugeLayer, GaugeProperties, ObservedGauge};
pub use self::infrastructure::{InfrastructureLayer, InfrastructureProperties};
pub use self::reports::{ReportLayer, ReportProperties};
use super::Geometry;

/// What kind of features a layer holds: one for each resource that has a place on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LayerKind {
    /// Local areas with their flood state.
    Floods,
    /// Reports.
    Reports,
    /// Flood gauges with their readings.
    Gauges,
    /// Floodgates, pumps and waterways.
    Infrastructure,
    /// Provinces.
    Boundaries,
}

impl LayerKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Floods, Self::Reports, Self::Gauges, Self::Infrastructure, Self::Boundaries];

    /// The name it has in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Floods => "floods",
            Self::Reports => "reports",
            Self::Gauges => "gauges",
            Self::Infrastructure => "infrastructure",
            Self::Boundaries => "boundaries",
        }
    }
}

/// The features of one answer, typed by resource, in the order the answer shows them.
///
/// A layer is what a store gives and a format encodes. Geometry is shared, not copied.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Layer {
    /// Local areas with their flood state.
    Floods(FloodLayer),
    /// Reports.
    Reports(ReportLayer),
    /// Flood gauges with their readings.
    Gauges(GaugeLayer),
    /// Floodgates, pumps and waterways.
    Infrastructure(InfrastructureLayer),
    /// Provinces.
    Boundaries(BoundaryLayer),
}

impl Layer {
    /// What kind of layer this is.
    #[must_use]
    pub fn kind(&self) -> LayerKind {
        match self {
            Self::Floods(_) => LayerKind::Floods,
            Self::Reports(_) => LayerKind::Reports,
            Self::Gauges(_) => LayerKind::Gauges,
            Self::Infrastructure(_) => LayerKind::Infrastructure,
            Self::Boundaries(_) => LayerKind::Boundaries,
        }
    }

    /// The features as geometry with properties: all a generic map format needs to know.
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = Feature<'_>> + Clone {
        (0..self.len()).map(|index| self.feature(index))
    }

    /// The same layer, with this service's photos below an address ([`ReportLayer::with_photos_at`]).
    pub(crate) fn with_photos_at(self, address: &Arc<str>) -> Self {
        match self {
            Self::Reports(layer) => Self::Reports(layer.with_photos_at(Arc::clone(address))),
            layer => layer,
        }
    }

    /// How many features there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Floods(layer) => layer.len(),
            Self::Reports(layer) => layer.reports.len(),
            Self::Gauges(layer) => layer.0.len(),
            Self::Infrastructure(layer) => layer.0.len(),
            Self::Boundaries(layer) => layer.0.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The feature at a position below [`len`](Self::len).
    pub(crate) fn feature(&self, index: usize) -> Feature<'_> {
        match self {
            Self::Floods(layer) => layer.feature(index).into(),
            Self::Reports(layer) => layer.feature(index),
            Self::Gauges(layer) => (&layer.0[index]).into(),
            Self::Infrastructure(layer) => (&*layer.0[index]).into(),
            Self::Boundaries(layer) => (&*layer.0[index]).into(),
        }
    }
}

/// One feature of a layer, as a generic map format sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feature<'a> {
    /// Its shape and place.
    pub geometry: Geometry<'a>,
    /// Its properties, serialized as the interface documents them.
    pub properties: Properties<'a>,
}

/// The properties of a feature, serialized with the names and in the order of the interface.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Properties<'a> {
    /// Of a local area.
    Flood(FloodProperties<'a>),
    /// Of a report.
    Report(ReportProperties<'a>),
    /// Of a gauge.
    Gauge(GaugeProperties<'a>),
    /// Of a floodgate, a pump or a waterway.
    Infrastructure(InfrastructureProperties<'a>),
    /// Of a province.
    Boundary(BoundaryProperties<'a>),
}
