use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Which cities and provinces there are to select, and which resource can be selected by which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Areas {
    /// City codes. **Default: `bdg`, `jbd`, `sby`**
    pub cities: Vec<String>,
    /// Province codes (ISO 3166-2). **Default: the 38 of Indonesia**
    pub provinces: Vec<String>,
    /// What each resource can be selected by.
    pub supported: Supported,
}

/// What each resource can be selected by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Supported {
    /// `/floods` and what lies under it. **Default: every default city; `ID-JK`**
    pub floods: Selectable,
    /// `/reports`, `/stats` and what lies under them. **Default: every default city and every province; every province**
    pub reports: Selectable,
    /// `/floodgauges`. **Default: `ID-JK`, as city or as province**
    pub gauges: Selectable,
    /// `/infrastructure`. **Default: `ID-JK`, as city or as province**
    pub infrastructure: Selectable,
    /// `/admin`, which knows no cities, so that those must stay none. **Default: every province**
    pub boundaries: Selectable,
}

/// The values a resource accepts as selectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Selectable {
    /// Of the parameter `city`.
    pub city: Vec<String>,
    /// Of the parameter `admin`.
    pub admin: Vec<String>,
}

const CITIES: [&str; 3] = ["bdg", "jbd", "sby"];

/// ISO 3166-2:ID.
const PROVINCES: [&str; 38] = [
    "ID-AC", "ID-BA", "ID-BB", "ID-BE", "ID-BT", "ID-GO", "ID-JA", "ID-JB", "ID-JI", "ID-JK", "ID-JT",
    "ID-KB", "ID-KI", "ID-KR", "ID-KS", "ID-KT", "ID-KU", "ID-LA", "ID-MA", "ID-MU", "ID-NB", "ID-NT",
    "ID-PA", "ID-PB", "ID-PD", "ID-PE", "ID-PS", "ID-PT", "ID-RI", "ID-SA", "ID-SB", "ID-SG", "ID-SN",
    "ID-SR", "ID-SS", "ID-ST", "ID-SU", "ID-YO",
];

fn owned(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|&code| code.to_owned()).collect()
}

impl Default for Areas {
    fn default() -> Self {
        Self { cities: owned(&CITIES), provinces: owned(&PROVINCES), supported: Supported::default() }
    }
}

impl Default for Supported {
    fn default() -> Self {
        let selectable =
            |city: &[&str], admin: &[&str]| Selectable { city: owned(city), admin: owned(admin) };
        Self {
            floods: selectable(&CITIES, &["ID-JK"]),
            // Clients send a code of either kind as `city`.
            reports: selectable(&[&CITIES[..], &PROVINCES].concat(), &PROVINCES),
            gauges: selectable(&["ID-JK"], &["ID-JK"]),
            infrastructure: selectable(&["ID-JK"], &["ID-JK"]),
            boundaries: selectable(&[], &PROVINCES),
        }
    }
}

impl Areas {
    /// Checks that every supported selector is a known city or province.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Supported { floods, reports, gauges, infrastructure, boundaries } = &self.supported;
        for (resource, selectable) in [
            ("floods", floods),
            ("reports", reports),
            ("gauges", gauges),
            ("infrastructure", infrastructure),
            ("boundaries", boundaries),
        ] {
            for (parameter, codes) in [("city", &selectable.city), ("admin", &selectable.admin)] {
                let known = |code| self.cities.contains(code) || self.provinces.contains(code);
                if let Some(code) = codes.iter().find(|code| !known(code)) {
                    return Err(ConfigError::new(
                        &format!("siaga.areas.supported.{resource}.{parameter}"),
                        format!("{code:?} is in neither siaga.areas.cities nor siaga.areas.provinces"),
                    ));
                }
            }
        }
        if !boundaries.city.is_empty() {
            let reason = "must be empty: provinces lie in no city";
            return Err(ConfigError::new("siaga.areas.supported.boundaries.city", reason));
        }
        Ok(())
    }
}
