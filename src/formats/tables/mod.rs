//! The data as collections of features with flat, typed columns, for GIS programs and the public archive. [`Collection`] names
//! the collections; [`TableSchema`] converts layers to rows, selects rows, and writes them as `GeoJSON`.

mod column;
mod order;
mod row;
mod selection;
mod writing;

use std::fmt;

use crate::model::InfrastructureKind;

pub(crate) use self::column::{Column, FieldValue, Kind, ValueFilter};
pub(crate) use self::order::find;
pub(crate) use self::row::{FeatureRow, TableSchema};
pub(crate) use self::selection::{PageCursor, Selected, Selection, TimeFilter, parse_bbox};
pub(crate) use self::writing::{GEOJSON, Items, Link, begin_feature};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Collection {
    Floods,
    Flooded,
    Areas,
    Reports,
    /// Gauges, each with its newest reading, if any.
    Gauges,
    Infrastructure,
    Floodgates,
    Pumps,
    Waterways,
    Alerts,
}

impl Collection {
    pub(crate) const ALL: [Self; 10] = [
        Self::Floods,
        Self::Flooded,
        Self::Areas,
        Self::Reports,
        Self::Gauges,
        Self::Infrastructure,
        Self::Floodgates,
        Self::Pumps,
        Self::Waterways,
        Self::Alerts,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floods => "floods",
            Self::Flooded => "flooded",
            Self::Areas => "areas",
            Self::Reports => "reports",
            Self::Gauges => "gauges",
            Self::Infrastructure => "infrastructure",
            Self::Floodgates => InfrastructureKind::Floodgates.name(),
            Self::Pumps => InfrastructureKind::Pumps.name(),
            Self::Waterways => InfrastructureKind::Waterways.name(),
            Self::Alerts => "alerts",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collection| collection.name() == name)
    }

    /// Returns whether an import can replace the features, so that earlier page cursors become invalid.
    pub(crate) fn is_imported(self) -> bool {
        matches!(self, Self::Floods | Self::Flooded | Self::Areas) || self.is_infrastructure()
    }

    pub(crate) fn has_time(self) -> bool {
        self != Self::Areas && !self.is_infrastructure()
    }

    fn is_infrastructure(self) -> bool {
        self == Self::Infrastructure || self.infrastructure_kind().is_some()
    }

    /// Returns the kind of infrastructure, if the collection has a single kind. Such collections exist because some programs show
    /// only features with the geometry type of the first one.
    pub(crate) fn infrastructure_kind(self) -> Option<InfrastructureKind> {
        match self {
            Self::Floodgates => Some(InfrastructureKind::Floodgates),
            Self::Pumps => Some(InfrastructureKind::Pumps),
            Self::Waterways => Some(InfrastructureKind::Waterways),
            _ => None,
        }
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
