use super::Area;

/// Which areas a request is about: those of a city, of a province, of both, or all.
///
/// The codes are known to be configured ones; an area must match every code that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AreaSelector {
    /// A city code, `jbd`.
    pub city: Option<String>,
    /// A province code, `ID-JK`.
    pub region: Option<String>,
}

impl AreaSelector {
    /// Whether the area is among the selected.
    #[must_use]
    pub fn matches(&self, area: &Area) -> bool {
        self.city.as_ref().is_none_or(|city| *city == area.city_code)
            && self.region.as_ref().is_none_or(|region| *region == area.region_code)
    }
}
