use super::Area;

/// The part of the country that a request selects: a city, a province, a city's part in a province, or everything. The codes are
/// configured. `city` may be the code of a province, because some clients send this for resources without cities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AreaSelector {
    /// A city code, such as `jbd`, or a province code.
    pub city: Option<String>,
    /// A province code, such as `ID-JK`.
    pub region: Option<String>,
}

impl AreaSelector {
    /// Returns whether an area is selected.
    #[must_use]
    pub fn matches(&self, area: &Area) -> bool {
        self.matches_codes(Some(&area.city_code), Some(&area.region_code))
    }

    #[must_use]
    pub(crate) fn matches_codes(&self, city: Option<&str>, region: Option<&str>) -> bool {
        let in_city = |code: &str| city == Some(code) || region == Some(code);
        self.city.as_deref().is_none_or(in_city)
            && self.region.as_deref().is_none_or(|code| region == Some(code))
    }

    #[must_use]
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}
