use std::str::FromStr;

use geo::LineString;
use serde::{Serialize, Serializer};

use super::{Geometry, Position, Tags};

/// What keeps water in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InfrastructureKind {
    /// Floodgates.
    Floodgates,
    /// Pumps.
    Pumps,
    /// Rivers and canals.
    Waterways,
}

impl InfrastructureKind {
    /// Every kind, in the order of answers.
    pub const ALL: [Self; 3] = [Self::Floodgates, Self::Pumps, Self::Waterways];

    /// The name in requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Floodgates => "floodgates",
            Self::Pumps => "pumps",
            Self::Waterways => "waterways",
        }
    }
}

impl AsRef<str> for InfrastructureKind {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

/// A text that names no [`InfrastructureKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [floodgates, pumps, waterways]")]
pub struct UnknownInfrastructureKind;

impl FromStr for InfrastructureKind {
    type Err = UnknownInfrastructureKind;

    fn from_str(name: &str) -> Result<Self, UnknownInfrastructureKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(UnknownInfrastructureKind)
    }
}

impl Serialize for InfrastructureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A floodgate, a pump or a waterway.
#[derive(Clone, Debug, PartialEq)]
pub struct Infrastructure {
    /// What it is.
    pub kind: InfrastructureKind,
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub tags: Tags,
    /// Its place or course.
    pub shape: InfrastructureShape,
}

/// The place or course of an infrastructure.
#[derive(Clone, Debug, PartialEq)]
pub enum InfrastructureShape {
    /// A place.
    Place(Position),
    /// A course of two or more positions.
    Course(Course),
}

impl InfrastructureShape {
    /// The place itself, or where the course begins.
    #[must_use]
    pub fn beginning(&self) -> Position {
        match self {
            Self::Place(place) => *place,
            Self::Course(course) => course.beginning,
        }
    }
}

/// A line of two or more positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    beginning: Position,
    line: LineString<f64>,
}

impl Course {
    /// The course along these positions; `None` when there are less than two.
    #[must_use]
    pub fn new(positions: &[Position]) -> Option<Self> {
        let &[beginning, _, ..] = positions else { return None };
        let line = positions.iter().map(|position| position.coord()).collect();
        Some(Self { beginning, line })
    }
}

impl Infrastructure {
    /// Its shape as geometry.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        match &self.shape {
            InfrastructureShape::Place(place) => Geometry::Point(place.coord()),
            InfrastructureShape::Course(course) => Geometry::LineString(&course.line),
        }
    }
}
