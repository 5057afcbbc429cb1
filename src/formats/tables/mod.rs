//! The data as collections of features with flat, typed columns: for the programs of GIS officers, and for the public archive.
//!
//! [`Collection`] lists them, [`Column`] says what a column has, and [`TableSchema`] makes rows from layers, selects rows, and writes
//! them as `GeoJSON`.

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

/// A collection of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Collection {
    /// All local areas, each with its flood state.
    Floods,
    /// The local areas that are flooded.
    Flooded,
    /// All local areas.
    Areas,
    /// Reports.
    Reports,
    /// Gauges, each with its newest reading if there is one.
    Gauges,
    /// Floodgates, pumps and waterways, of any shape.
    Infrastructure,
    /// Floodgates that are points.
    Floodgates,
    /// Pumps that are points.
    Pumps,
    /// Waterways that are lines.
    Waterways,
    /// The alerts in force.
    Alerts,
}

impl Collection {
    /// Every collection, in the order of lists.
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

    /// Returns its name in addresses.
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

    /// Returns the collection with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collection| collection.name() == name)
    }

    /// Returns whether an import can replace its features, so that a page cannot follow one from before the import.
    pub(crate) fn is_imported(self) -> bool {
        matches!(self, Self::Floods | Self::Flooded | Self::Areas) || self.is_infrastructure()
    }

    /// Returns whether `datetime` selects its features.
    pub(crate) fn has_time(self) -> bool {
        self != Self::Areas && !self.is_infrastructure()
    }

    fn is_infrastructure(self) -> bool {
        self == Self::Infrastructure || self.infrastructure_kind().is_some()
    }

    /// Returns the kind of infrastructure that the collection has alone. Its features have one type of geometry, because programs show
    /// only those of the type of the first.
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
