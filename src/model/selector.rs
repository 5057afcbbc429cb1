use super::Area;

/// What part of the country a request is about: a city, a province, where both meet, or all of it.
///
/// The codes are known to be configured ones. A city may be named by a province's code, as clients do
/// for resources that know no cities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AreaSelector {
    /// A city code, `jbd`, or a province code.
    pub city: Option<String>,
    /// A province code, `ID-JK`.
    pub region: Option<String>,
}

impl AreaSelector {
    /// Whether the area is among the selected.
    #[must_use]
    pub fn matches(&self, area: &Area) -> bool {
        self.matches_codes(Some(&area.city_code), Some(&area.region_code))
    }

    /// Whether something in this city and province is among the selected.
    #[must_use]
    pub fn matches_codes(&self, city: Option<&str>, region: Option<&str>) -> bool {
        let in_city = |code: &str| city == Some(code) || region == Some(code);
        self.city.as_deref().is_none_or(in_city)
            && self.region.as_deref().is_none_or(|code| region == Some(code))
    }

    /// Whether everything is selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}
