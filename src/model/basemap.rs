use std::str::FromStr;

use geo::{LineString, MultiPolygon};

use super::Position;

/// The kinds of features on the base map, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BasemapKind {
    /// Land, of the sea's coast.
    Land,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BasemapShapeType {
    Lines,
    Areas,
    Points,
}

impl BasemapKind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Land,
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

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Land => "land",
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

    pub(crate) fn is_road(self) -> bool {
        matches!(self, Self::Motorway | Self::Primary | Self::Secondary | Self::Street)
    }

    pub(crate) fn shape_type(self) -> BasemapShapeType {
        match self {
            Self::Land | Self::Water | Self::Park => BasemapShapeType::Areas,
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

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BasemapFeature {
    pub(crate) kind: BasemapKind,
    pub(crate) name: String,
    pub(crate) shape: BasemapShape,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BasemapShape {
    Lines(Vec<LineString<f64>>),
    /// Polygons may be invalid, because the map only draws them.
    Areas(MultiPolygon<f64>),
    Point(Position),
}
