use std::fmt;
use std::str::FromStr;

use geo::MultiPolygon;
use serde::{Serialize, Serializer};

use super::{Attributes, Geometry, digits, place_name};

/// The identifier of a local area: a whole number from 0 to 9223372036854775807. Responses contain it as a string
/// (`"area_id":"5"`), except where the interface requires a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AreaId(u64);

/// Error for a text or number that is not an [`AreaId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", AreaId::MAX)]
pub struct InvalidAreaId;

impl AreaId {
    /// The largest identifier: the maximum of a signed 64-bit database column.
    pub const MAX: u64 = i64::MAX as u64;

    pub(crate) const EXERCISE: Self = Self(Self::MAX);

    /// Returns the identifier as a number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for AreaId {
    type Error = InvalidAreaId;

    fn try_from(number: u64) -> Result<Self, InvalidAreaId> {
        (number <= Self::MAX).then_some(Self(number)).ok_or(InvalidAreaId)
    }
}

impl FromStr for AreaId {
    type Err = InvalidAreaId;

    /// Parses decimal digits. A sign, whitespace or a fraction is an error.
    fn from_str(text: &str) -> Result<Self, InvalidAreaId> {
        digits(text).ok_or(InvalidAreaId)?.try_into()
    }
}

impl fmt::Display for AreaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for AreaId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A neighbourhood with a flood state: the smallest unit of the flood map.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Identifies the area in all addresses and responses.
    pub id: AreaId,
    /// Identifier of the geometry at the mapping agency.
    pub geom_id: String,
    /// Name, such as `RW 09`; may be empty, because real data has areas without a name.
    pub name: String,
    /// Name of the larger area that contains this area, such as `GROGOL`; may be empty.
    pub parent_name: String,
    /// Name of the city, such as `JAKARTA BARAT`; may be empty.
    pub city_name: String,
    /// Code of the city, such as `jbd`; empty if none. Requests select areas by this code.
    pub city_code: String,
    /// Code of the province (ISO 3166-2), such as `ID-JK`; empty if unknown.
    pub region_code: String,
    /// Further properties from the data set.
    pub attributes: Option<Attributes>,
    /// Geometry in WGS84 degrees: one or more polygons, outer rings counter-clockwise (RFC 7946 §3.1.6).
    pub outline: MultiPolygon<f64>,
}

impl Area {
    /// Returns a polygon if the geometry is one piece, otherwise a multipolygon.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry::surface(&self.outline)
    }

    /// Returns the name for pages: the name of the larger area, then its own name.
    pub(crate) fn display_name(&self) -> String {
        place_name(&self.parent_name, &self.name, &self.id.to_string())
    }

    pub(super) fn district_id(&self) -> Option<Box<str>> {
        self.attributes.as_ref()?.district_id()
    }
}

/// A province or city with its boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// ISO 3166-2 code of a province, such as `ID-JK`, or code of a city, such as `jbd`.
    pub code: String,
    /// Name, such as `DKI Jakarta`.
    pub name: String,
    /// Boundary in WGS84 degrees, outer rings counter-clockwise.
    pub outline: MultiPolygon<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_id_is_decimal_digits_within_a_signed_64_bit_column() {
        assert_eq!("5".parse::<AreaId>().unwrap().number(), 5);
        assert_eq!("007".parse::<AreaId>().unwrap().number(), 7);
        assert_eq!(i64::MAX.to_string().parse::<AreaId>().unwrap().number(), AreaId::MAX);
        for wrong in ["", "+5", "-5", "5.0", " 5", "5 ", "five", "٥", "9223372036854775808", &"9".repeat(99)]
        {
            assert_eq!(wrong.parse::<AreaId>(), Err(InvalidAreaId), "{wrong:?}");
        }
    }
}
