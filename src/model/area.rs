use std::fmt;
use std::str::FromStr;

use geo::MultiPolygon;
use serde::{Serialize, Serializer};

use super::{Attributes, Geometry, digits};

/// The identifier of a local area: a whole number from 0 to 9223372036854775807.
///
/// Answers show it as a string (`"area_id":"5"`), except where the interface says a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AreaId(u64);

/// A text or number that is no [`AreaId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", AreaId::MAX)]
pub struct InvalidAreaId;

impl AreaId {
    /// The largest identifier: what a signed 64-bit database column holds.
    pub const MAX: u64 = i64::MAX as u64;

    /// The identifier as a number.
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

    /// Reads decimal digits; a sign, a blank or a fraction is an error.
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

/// A neighbourhood whose flood state is kept: the smallest unit of the flood map.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Identifies the area in every address and answer.
    pub id: AreaId,
    /// Identifier of the geometry at the mapping agency.
    pub geom_id: String,
    /// Name of the area, `RW 09`; real data has areas without a name, which is then empty.
    pub name: String,
    /// Name of the area it lies in, `GROGOL`; may be empty.
    pub parent_name: String,
    /// Name of the city it lies in, `JAKARTA BARAT`; may be empty.
    pub city_name: String,
    /// Code of the city selector it answers to, `jbd`; empty when it answers to none.
    pub city_code: String,
    /// Code of the province it lies in (ISO 3166-2), `ID-JK`; empty when unknown.
    pub region_code: String,
    /// What the data set says of it besides; `None` when it says no more.
    pub attributes: Option<Attributes>,
    /// Its outline in WGS84 degrees: one or more polygons, outer rings counter-clockwise (RFC 7946 §3.1.6).
    pub outline: MultiPolygon<f64>,
}

impl Area {
    /// The outline as a polygon when it is one piece, as a multipolygon otherwise.
    #[must_use]
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry::surface(&self.outline)
    }
}

/// An administrative region with its boundary: a province or a city.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The ISO 3166-2 code of a province, `ID-JK`, or the code of a city, `jbd`.
    pub code: String,
    /// Name, `DKI Jakarta`.
    pub name: String,
    /// Its boundary in WGS84 degrees, outer rings counter-clockwise.
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
