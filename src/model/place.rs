use geo::Coord;
use serde::Serialize;

use super::AreaId;

/// A place on the globe in WGS84 degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position(Coord<f64>);

impl Position {
    /// The centre of Jakarta, for examples.
    pub(crate) const JAKARTA: Self = Self(Coord { x: 106.83, y: -6.18 });

    /// Returns the place at a longitude from -180 to 180 and a latitude from -90 to 90; `None` beyond these.
    #[must_use]
    pub fn new(lng: f64, lat: f64) -> Option<Self> {
        (lng.abs() <= 180.0 && lat.abs() <= 90.0).then_some(Self(Coord { x: lng, y: lat }))
    }

    /// Returns whether this is 0, 0, which devices send that do not know where they are.
    pub(crate) fn is_origin(self) -> bool {
        self.0 == Coord::zero()
    }

    /// Returns the place as `x` (longitude) and `y` (latitude).
    #[must_use]
    pub fn coord(self) -> Coord<f64> {
        self.0
    }
}

/// Where something lies on the map: each tag is null outside all areas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tags {
    /// The province (ISO 3166-2).
    pub instance_region_code: Option<Box<str>>,
    /// The local area.
    pub local_area_id: Option<AreaId>,
    /// The district: the attribute `district_id` of the local area, if it has one. It is not stored with the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub district_id: Option<Box<str>>,
    /// The city with its own boundary in which the place lies. Responses do not show it.
    #[serde(skip)]
    pub city: Option<Box<str>>,
}
