//! The data as collections of features with flat, typed columns: for the programs of GIS officers, and for the public archive.
//!
//! [`Collection`] lists them, [`Column`] says what a column has, and [`Tables`] makes rows from layers, selects rows, and writes
//! them as `GeoJSON`.

mod column;
mod order;
mod row;
mod selection;
mod writing;

use std::fmt;

pub(crate) use self::column::{Cell, Column, Kind, Sought};
pub(crate) use self::order::find;
pub(crate) use self::row::{Row, Tables};
pub(crate) use self::selection::{After, Selection, Time, parse_bbox};
pub(crate) use self::writing::{GEOJSON, Items, Link, begin_feature};

/// A collection of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Collection {
    /// All local areas, each with its flood state or none.
    Floods,
    /// All local areas.
    Areas,
    /// Reports.
    Reports,
    /// Gauges with their newest reading.
    Gauges,
    /// Floodgates, pumps and waterways.
    Infrastructure,
    /// The alerts in force.
    Alerts,
}

impl Collection {
    /// Every collection, in the order of lists.
    pub(crate) const ALL: [Self; 6] =
        [Self::Floods, Self::Areas, Self::Reports, Self::Gauges, Self::Infrastructure, Self::Alerts];

    /// Returns its name in addresses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floods => "floods",
            Self::Areas => "areas",
            Self::Reports => "reports",
            Self::Gauges => "gauges",
            Self::Infrastructure => "infrastructure",
            Self::Alerts => "alerts",
        }
    }

    /// Returns the collection with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collection| collection.name() == name)
    }

    /// Returns whether an import can replace its features, so that a page cannot follow one from before the import.
    pub(crate) fn is_imported(self) -> bool {
        matches!(self, Self::Floods | Self::Areas | Self::Infrastructure)
    }

    /// Returns whether `datetime` selects its features.
    pub(crate) fn has_time(self) -> bool {
        !matches!(self, Self::Areas | Self::Infrastructure)
    }
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
