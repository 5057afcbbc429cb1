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
    Course(LineString<f64>),
}

impl Infrastructure {
    /// Its shape as geometry.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        match &self.shape {
            InfrastructureShape::Place(place) => Geometry::Point(place.coord()),
            InfrastructureShape::Course(course) => Geometry::LineString(course),
        }
    }
}
