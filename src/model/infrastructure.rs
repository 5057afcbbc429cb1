use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use geo::LineString;
use serde::{Serialize, Serializer};

use super::{Geometry, Position, Tags};

/// A kind of flood infrastructure.
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
    /// All kinds, in the order of responses.
    pub const ALL: [Self; 3] = [Self::Floodgates, Self::Pumps, Self::Waterways];

    /// Returns whether the shape is usual for this kind: floodgates and pumps are places, waterways have a course.
    #[must_use]
    pub(crate) fn allows(self, shape: &InfrastructureShape) -> bool {
        matches!(shape, InfrastructureShape::Course(_)) == (self == Self::Waterways)
    }

    /// Returns the name in requests and responses.
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

/// Error for a text that is not the name of an [`InfrastructureKind`].
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
    /// A unique identifier. If it is empty in a file, [`Places`](super::Places) sets it to a hash of kind, name and first
    /// position. Such a hash stays the same when other pieces change.
    pub id: String,
    /// The kind.
    pub kind: InfrastructureKind,
    /// The name.
    pub name: String,
    /// The province, city and local area where the piece lies.
    pub tags: Tags,
    /// The place or course.
    pub shape: InfrastructureShape,
}

/// The place or course of a piece of infrastructure.
#[derive(Clone, Debug, PartialEq)]
pub enum InfrastructureShape {
    /// A place.
    Place(Position),
    /// A course of two or more positions.
    Course(Course),
}

impl InfrastructureShape {
    #[must_use]
    pub(crate) fn beginning(&self) -> Position {
        match self {
            Self::Place(place) => *place,
            Self::Course(course) => course.beginning,
        }
    }

    pub(crate) fn geometry(&self) -> Geometry<'_> {
        match self {
            Self::Place(place) => Geometry::Point(place.coord()),
            Self::Course(course) => Geometry::LineString(&course.line),
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
    /// Creates a course along these positions; `None` for fewer than two.
    #[must_use]
    pub fn new(positions: &[Position]) -> Option<Self> {
        let &[beginning, _, ..] = positions else { return None };
        let line = positions.iter().map(|position| position.coord()).collect();
        Some(Self { beginning, line })
    }
}

impl Infrastructure {
    /// Sorts pieces by kind and name, and sets missing identifiers. Repeated ones get a suffix: `-2`, `-3`. Idempotent.
    pub(crate) fn identify(pieces: &mut [Self]) {
        pieces.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let mut taken = HashSet::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for piece in pieces {
            if piece.id.is_empty() {
                piece.id = piece.derived_id();
            }
            let mut id = piece.id.clone();
            while !taken.insert(id.clone()) {
                let count = counts.entry(piece.id.clone()).or_insert(1);
                *count += 1;
                id = format!("{}-{count}", piece.id);
            }
            piece.id = id;
        }
    }

    /// Returns 16 hexadecimal digits that depend on the kind, the name and the first position only.
    pub(crate) fn derived_id(&self) -> String {
        let beginning = self.shape.beginning().coord();
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.kind.name().as_bytes()).update(b"\0");
        hasher.update(self.name.as_bytes()).update(b"\0");
        // Adding zero makes −0 and 0 equal.
        for degrees in [beginning.x + 0.0, beginning.y + 0.0] {
            hasher.update(&degrees.to_bits().to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Returns the shape as geometry.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        self.shape.geometry()
    }
}
