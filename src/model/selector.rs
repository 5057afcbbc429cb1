use super::Area;

/// The part of the country that a request is about: a city, a province, the part of a city in a province, or everything.
///
/// The codes have been checked to be configured ones. A city may also be given by a province's code, as clients do for
/// resources without cities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AreaSelector {
    /// A city code, `jbd`, or a province code.
    pub city: Option<String>,
    /// A province code, `ID-JK`.
    pub region: Option<String>,
}

impl AreaSelector {
    /// Returns whether the area is selected.
    #[must_use]
    pub fn matches(&self, area: &Area) -> bool {
        self.matches_codes(Some(&area.city_code), Some(&area.region_code))
    }

    /// Returns whether something in this city and province is selected.
    #[must_use]
    pub(crate) fn matches_codes(&self, city: Option<&str>, region: Option<&str>) -> bool {
        let in_city = |code: &str| city == Some(code) || region == Some(code);
        self.city.as_deref().is_none_or(in_city)
            && self.region.as_deref().is_none_or(|code| region == Some(code))
    }

    /// Returns whether everything is selected.
    #[must_use]
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}
