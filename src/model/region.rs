use geo::MultiPolygon;

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
