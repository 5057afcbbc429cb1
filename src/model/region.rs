use geo::MultiPolygon;

/// An administrative region: a province and its boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// ISO 3166-2 code, `ID-JK`.
    pub code: String,
    /// Name, `DKI Jakarta`.
    pub name: String,
    /// Its boundary in WGS84 degrees, outer rings counter-clockwise.
    pub outline: MultiPolygon<f64>,
}
