//! Detects misplaced tables and removed keys, which would otherwise be ignored.

use figment::value::Value;
use figment::{Figment, Profile, Provider};
use strsim::osa_distance;

use super::{Config, ConfigError};

const DATABASES: &str = "databases";
/// Keys of older versions, and what to use instead.
const REMOVED: [(&str, &str); 3] = [
    ("databases.siaga_read", "responses come from memory, and databases.siaga.url may name several hosts"),
    (
        "siaga.auth.jwt.jwks",
        "serve the set on this machine, and write its address in siaga.auth.jwt.jwks_url, such as http://127.0.0.1:8081/jwks.json",
    ),
    (
        "siaga.areas.supported",
        "clients select by the codes of the loaded areas, and by siaga.areas.cities and siaga.areas.provinces",
    ),
];
/// Profiles that Rocket reads in addition to the selected one.
const PROFILES: [Profile; 2] = [Profile::Default, Profile::Global];

/// Whether a key belongs next to the service's table, not into it.
pub(super) fn is_rocket_key(key: &str) -> bool {
    key == DATABASES || rocket::Config::PARAMETERS.contains(&key)
}

/// Fails if the configuration has a removed key, or a table that resembles `siaga` in a place that is not read.
pub(super) fn check(figment: &Figment) -> Result<(), ConfigError> {
    for (key, instead) in REMOVED {
        if let Ok(value) = figment.find_value(key) {
            return Err(ConfigError::removed(key, format!("{instead}{}", location_of(figment, &value))));
        }
    }
    for (profile, key, value) in entries(figment) {
        let misplaced = if is_read(figment, &profile) {
            (resembles(&key, Config::KEY) && value.as_dict().is_some()).then(|| format!("[{profile}.{key}]"))
        } else {
            let name = profile.as_str().as_str();
            (name.eq_ignore_ascii_case(Config::KEY) || resembles(name, Config::KEY))
                .then(|| format!("[{profile}]"))
        };
        if let Some(table) = misplaced {
            let profile = if is_read(figment, &profile) { profile } else { Profile::Default };
            let reason = format!(
                "nothing reads this table: write [{profile}.{}] instead, for the tables below it as well",
                Config::KEY
            );
            return Err(ConfigError::new(&table, format!("{reason}{}", location_of(figment, &value))));
        }
    }
    Ok(())
}

/// Returns the top-level keys of all profiles. Returns none if the figment has an error, because the extraction reports it later.
fn entries(figment: &Figment) -> impl Iterator<Item = (Profile, String, Value)> {
    let profiles = figment.data().unwrap_or_default().into_iter();
    profiles
        .flat_map(|(profile, keys)| keys.into_iter().map(move |(key, value)| (profile.clone(), key, value)))
}

fn is_read(figment: &Figment, profile: &Profile) -> bool {
    profile == figment.profile() || PROFILES.contains(profile)
}

fn location_of(figment: &Figment, value: &Value) -> String {
    let metadata = figment.get_metadata(value.tag());
    metadata.map_or_else(String::new, |metadata| match &metadata.source {
        Some(source) => format!(" ({source})"),
        None => format!(" ({})", metadata.name),
    })
}

/// Whether two keys differ only in case, or in one letter that is extra, missing, wrong or misplaced.
fn resembles(key: &str, expected: &str) -> bool {
    key != expected && osa_distance(&key.to_ascii_lowercase(), expected) <= 1
}
