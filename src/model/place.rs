use geo::Coord;
use serde::Serialize;

use super::AreaId;

/// A place on the globe in WGS84 degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position(Coord<f64>);

impl Position {
    pub(crate) const JAKARTA: Self = Self(Coord { x: 106.83, y: -6.18 });

    /// Creates a place; `None` unless longitude is from -180 to 180 and latitude from -90 to 90.
    #[must_use]
    pub fn new(lng: f64, lat: f64) -> Option<Self> {
        (lng.abs() <= 180.0 && lat.abs() <= 90.0).then_some(Self(Coord { x: lng, y: lat }))
    }

    /// Returns whether the place is 0, 0. Devices without a position fix send this place.
    pub(crate) fn is_origin(self) -> bool {
        self.0 == Coord::zero()
    }

    /// Returns the place as `x` (longitude) and `y` (latitude).
    #[must_use]
    pub fn coord(self) -> Coord<f64> {
        self.0
    }
}

/// The regions that contain a place. A region is null if the place lies outside all regions of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tags {
    /// The province (ISO 3166-2).
    pub instance_region_code: Option<Box<str>>,
    /// The local area.
    pub local_area_id: Option<AreaId>,
    /// The attribute `district_id` of the local area. Not stored with the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub district_id: Option<Box<str>>,
    /// The city whose own boundary contains the place. Not in responses.
    #[serde(skip)]
    pub city: Option<Box<str>>,
}
