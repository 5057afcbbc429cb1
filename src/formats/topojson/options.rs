use serde::{Deserialize, Serialize};

use crate::model::Geometry;
use crate::model::topology::Fineness;

/// The largest cell of a layer that has points, in degrees: about 11 cm.
const POINT_CELL: f64 = 1e-6;
/// The largest cell of other layers, in degrees: about 5.5 m.
const OUTLINE_CELL: f64 = 5e-5;

/// Settings of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The grid that positions are rounded to. **Default: 10000**
    pub quantization: Quantization,
}

/// The grid that positions are rounded to: the minimum number of lines along each side of the bounding box, or no grid. More
/// lines are used to keep cells small: at most 1e-6° on either axis in a layer with points, 5e-5° in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Setting", into = "Setting")]
pub struct Quantization(Option<u32>);

impl Quantization {
    /// No grid: positions are exact, in degrees, without a `transform`.
    pub const NONE: Self = Self(None);

    /// Returns the resolution of the grid for these geometries.
    #[must_use]
    pub fn fineness(self, geometries: &[Geometry<'_>]) -> Fineness {
        let Some(lines) = self.0 else { return Fineness::Exact };
        let has_points = geometries.iter().any(|geometry| matches!(geometry, Geometry::Point(_)));
        Fineness::Even { lines, cell: if has_points { POINT_CELL } else { OUTLINE_CELL } }
    }
}

impl Default for Quantization {
    fn default() -> Self {
        Self(Some(10_000))
    }
}

/// A value is not a [`Quantization`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 2 to 1000000000, or \"none\"")]
pub struct InvalidQuantization;

impl TryFrom<u32> for Quantization {
    type Error = InvalidQuantization;

    fn try_from(lines: u32) -> Result<Self, InvalidQuantization> {
        if (2..=1_000_000_000).contains(&lines) { Ok(Self(Some(lines))) } else { Err(InvalidQuantization) }
    }
}

/// A [`Quantization`] in the configuration: a number, or a text because environment variables have no other type.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "must be a whole number from 2 to 1000000000, or \"none\"")]
enum Setting {
    Lines(u32),
    Text(String),
}

impl TryFrom<Setting> for Quantization {
    type Error = InvalidQuantization;

    fn try_from(setting: Setting) -> Result<Self, InvalidQuantization> {
        match setting {
            Setting::Lines(lines) => lines.try_into(),
            Setting::Text(text) if text == "none" => Ok(Self::NONE),
            Setting::Text(digits) => digits.parse::<u32>().map_err(|_| InvalidQuantization)?.try_into(),
        }
    }
}

impl From<Quantization> for Setting {
    fn from(Quantization(lines): Quantization) -> Self {
        lines.map_or_else(|| Self::Text("none".to_owned()), Self::Lines)
    }
}
