use std::str::FromStr;

use geo::{LineString, MultiPolygon};

use super::Position;

/// What a part of the base map is: the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BasemapKind {
    Water,
    River,
    Motorway,
    Primary,
    Rail,
    Secondary,
    Park,
    Street,
    Place,
}

/// The form that parts of a kind have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BasemapShapeType {
    Lines,
    Areas,
    Points,
}

impl BasemapKind {
    /// Every kind.
    pub(crate) const ALL: [Self; 9] = [
        Self::Water,
        Self::River,
        Self::Motorway,
        Self::Primary,
        Self::Rail,
        Self::Secondary,
        Self::Park,
        Self::Street,
        Self::Place,
    ];

    /// Returns its name in files and responses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Water => "water",
            Self::River => "river",
            Self::Motorway => "motorway",
            Self::Primary => "primary",
            Self::Rail => "rail",
            Self::Secondary => "secondary",
            Self::Park => "park",
            Self::Street => "street",
            Self::Place => "place",
        }
    }

    /// Returns the form of its parts.
    pub(crate) fn form(self) -> BasemapShapeType {
        match self {
            Self::Water | Self::Park => BasemapShapeType::Areas,
            Self::Place => BasemapShapeType::Points,
            _ => BasemapShapeType::Lines,
        }
    }
}

impl FromStr for BasemapKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("kind must be one of [{names}], not {name:?}")
        })
    }
}

/// A part of the base map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BasemapFeature {
    pub(crate) kind: BasemapKind,
    /// Its name; empty if it has none.
    pub(crate) name: String,
    pub(crate) shape: BasemapShape,
}

/// Where a part of the base map lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BasemapShape {
    Lines(Vec<LineString<f64>>),
    /// Polygons that need not be valid: they are only drawn.
    Areas(MultiPolygon<f64>),
    Point(Position),
}
