//! Limits of credentials to areas.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strsim::osa_distance;

use super::{Area, AreaId, AreaSet};

/// The areas that a request may change.
///
/// Has no default, so that no request is unlimited by mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AreaLimit {
    /// All areas.
    Everywhere,
    /// The areas that match at least one of these rules; no area if there are no rules.
    Within(Arc<[AreaRule]>),
}

/// Selects areas by their names and codes. An area matches if it has one of the listed values for **each** key that is given.
/// Upper and lower case are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub struct AreaRule(Keys);

/// The keys of a rule. At least one is given, and a given list is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    #[serde(skip_serializing_if = "Option::is_none")]
    province: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    city: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    city_name: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Vec<String>>,
}

/// Error for an [`AreaRule`] without keys, or with a text that is empty or only whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "areas must have one or more of [province, city, city_name, parent], each with a list of one or more texts"
)]
pub struct InvalidAreaRule;

/// The values of an area or report that an [`AreaRule`] compares. `None` or an empty text matches no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceNames<'a> {
    /// The code of the province, such as `ID-JK`.
    pub province: Option<&'a str>,
    /// The code of the city, such as `jbd`.
    pub city: Option<&'a str>,
    /// The name of the city, such as `JAKARTA BARAT`.
    pub city_name: Option<&'a str>,
    /// The name of the larger area, such as `GROGOL`.
    pub parent: Option<&'a str>,
}

impl AreaRule {
    /// The names of the keys, in the order of [`new`](Self::new).
    pub const KEYS: [&'static str; 4] = ["province", "city", "city_name", "parent"];

    /// Creates a rule from the values for each of [`KEYS`](Self::KEYS). A key without values is not given.
    ///
    /// # Errors
    ///
    /// If no key has values, or if a value is empty or only whitespace.
    pub fn new([province, city, city_name, parent]: [Vec<String>; 4]) -> Result<Self, InvalidAreaRule> {
        let given = |values: Vec<String>| (!values.is_empty()).then_some(values);
        let keys = Keys {
            province: given(province),
            city: given(city),
            city_name: given(city_name),
            parent: given(parent),
        };
        keys.try_into()
    }

    /// Returns the values for each of [`KEYS`](Self::KEYS); `None` for a key that is not given.
    fn values(&self) -> [Option<&[String]>; 4] {
        let Keys { province, city, city_name, parent } = &self.0;
        [province, city, city_name, parent].map(Option::as_deref)
    }

    /// Whether a place has one of the values for each key that is given.
    #[must_use]
    pub fn matches(&self, names: &PlaceNames<'_>) -> bool {
        let has_one = |(values, name): (Option<&[String]>, Option<&str>)| {
            values.is_none_or(|values| {
                name.is_some_and(|name| values.iter().any(|value| is_same_name(value, name)))
            })
        };
        self.values().into_iter().zip(names.values()).all(has_one)
    }

    /// Returns why the rule does not select what it says: values that no area has, with the nearest value, or else that no area has
    /// one for each key. Empty if neither. Costs O(areas × values).
    #[must_use]
    pub(crate) fn faults(&self, areas: &AreaSet) -> Vec<String> {
        let mut faults = Vec::new();
        for (index, values) in self.values().into_iter().enumerate() {
            let names: BTreeSet<&str> =
                areas.iter().filter_map(|area| PlaceNames::from(area).values()[index]).collect();
            let is_unknown = |value: &&String| !names.iter().any(|name| is_same_name(value, name));
            for value in values.unwrap_or_default().iter().filter(is_unknown) {
                let wanted = value.to_lowercase();
                let distance = |name: &&&str| {
                    let name = name.to_lowercase();
                    (!name.contains(&wanted), osa_distance(&wanted, &name))
                };
                let nearest = names.iter().filter(|name| !name.is_empty()).min_by_key(distance);
                let nearest = nearest.map_or_else(String::new, |name| format!("; the nearest is {name:?}"));
                faults.push(format!("no area has the {} {value:?}{nearest}", Self::KEYS[index]));
            }
        }
        if faults.is_empty() && !areas.iter().any(|area| self.matches(&area.into())) {
            faults.push(format!("no area has all of {self}"));
        }
        faults
    }
}

fn is_same_name(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || !one.is_ascii() && one.to_lowercase() == other.to_lowercase()
}

impl<'a> PlaceNames<'a> {
    /// Returns the values for [`AreaRule::KEYS`].
    #[must_use]
    pub fn values(&self) -> [Option<&'a str>; 4] {
        [self.province, self.city, self.city_name, self.parent]
    }
}

impl<'a> From<&'a Area> for PlaceNames<'a> {
    fn from(area: &'a Area) -> Self {
        Self {
            province: Some(&area.region_code),
            city: Some(&area.city_code),
            city_name: Some(&area.city_name),
            parent: Some(&area.parent_name),
        }
    }
}

impl AreaLimit {
    /// Whether there is no limit.
    #[must_use]
    pub fn is_everywhere(&self) -> bool {
        matches!(self, Self::Everywhere)
    }

    /// Whether a place is inside.
    #[must_use]
    pub fn contains(&self, names: &PlaceNames<'_>) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Within(rules) => rules.iter().any(|rule| rule.matches(names)),
        }
    }

    /// Returns the areas outside, ascending. An area without names, because it no longer exists, is outside of every limit.
    pub fn outside<'a>(
        &self,
        areas: impl IntoIterator<Item = (AreaId, Option<PlaceNames<'a>>)>,
    ) -> Vec<AreaId> {
        if self.is_everywhere() {
            return Vec::new();
        }
        let is_inside = |names: Option<PlaceNames<'_>>| names.is_some_and(|names| self.contains(&names));
        let areas = areas.into_iter().filter(|(_, names)| !is_inside(*names));
        let mut outside: Vec<_> = areas.map(|(area, _)| area).collect();
        outside.sort_unstable();
        outside
    }
}

impl TryFrom<Keys> for AreaRule {
    type Error = InvalidAreaRule;

    fn try_from(keys: Keys) -> Result<Self, InvalidAreaRule> {
        let rule = Self(keys);
        let has_values =
            |values: &[String]| !values.is_empty() && values.iter().all(|value| !value.trim().is_empty());
        let is_valid = rule.values().into_iter().any(|values| values.is_some())
            && rule.values().into_iter().flatten().all(has_values);
        if is_valid { Ok(rule) } else { Err(InvalidAreaRule) }
    }
}

impl From<AreaRule> for Keys {
    fn from(rule: AreaRule) -> Self {
        rule.0
    }
}

impl fmt::Display for AreaRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given =
            Self::KEYS.into_iter().zip(self.values()).filter_map(|(key, values)| Some((key, values?)));
        for (number, (key, values)) in given.enumerate() {
            let values: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
            write!(f, "{}{key} = {}", if number > 0 { ", " } else { "" }, values.join(" or "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const AREA: PlaceNames<'_> = PlaceNames {
        province: Some("ID-JK"),
        city: Some("jbd"),
        city_name: Some("JAKARTA SELATAN"),
        parent: Some("TEBET"),
    };

    fn rule(json: Value) -> AreaRule {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn an_area_matches_each_given_key_by_any_value_in_any_case() {
        for (json, expected) in [
            (json!({ "city_name": ["Jakarta Selatan"] }), true),
            (json!({ "city_name": ["Jakarta Timur", "jakarta selatan"] }), true),
            (json!({ "city_name": ["Jakarta Selatan"], "parent": ["Manggarai"] }), false),
            (json!({ "province": ["id-jk"], "city": ["JBD"], "parent": ["tebet"] }), true),
            (json!({ "parent": ["TEBET TIMUR"] }), false),
        ] {
            assert_eq!(rule(json.clone()).matches(&AREA), expected, "{json}");
        }
        let district = PlaceNames { parent: Some("QUẬN 1"), ..PlaceNames::default() };
        assert!(rule(json!({ "parent": ["Quận 1"] })).matches(&district));
    }

    #[test]
    fn a_missing_name_matches_no_rule() {
        let tags = PlaceNames { city_name: None, parent: Some(""), ..AREA };
        assert!(rule(json!({ "city": ["jbd"] })).matches(&tags));
        assert!(!rule(json!({ "city": ["jbd"], "city_name": ["JAKARTA SELATAN"] })).matches(&tags));
        assert!(!rule(json!({ "parent": ["TEBET"] })).matches(&tags));
    }

    #[test]
    fn a_rule_that_could_be_taken_for_all_areas_is_invalid() {
        for json in [
            json!({}),
            json!(null),
            json!([]),
            json!("JAKARTA SELATAN"),
            json!({ "city": [] }),
            json!({ "city": [""] }),
            json!({ "city": [" "] }),
            json!({ "city": "jbd" }),
            json!({ "city": ["jbd"], "kelurahan": ["TEBET"] }),
            json!({ "city": ["jbd"], "parent": [] }),
            json!({ "city": [5] }),
        ] {
            assert!(serde_json::from_value::<AreaRule>(json.clone()).is_err(), "{json}");
        }
    }

    #[test]
    fn an_area_that_is_gone_is_outside_of_every_limit() {
        let id = |number: u64| AreaId::try_from(number).unwrap();
        let areas = || [(id(3), None), (id(2), Some(AREA)), (id(1), Some(PlaceNames::default()))];
        let limit = AreaLimit::Within([rule(json!({ "city": ["jbd"] }))].into());
        assert_eq!(limit.outside(areas()), [id(1), id(3)]);
        assert_eq!(AreaLimit::Everywhere.outside(areas()), []);
        assert_eq!(AreaLimit::Within([].into()).outside(areas()), [1, 2, 3].map(id));
    }
}
