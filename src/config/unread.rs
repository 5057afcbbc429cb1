//! Tables that nothing reads, and keys that older versions read.

use figment::value::Value;
use figment::{Figment, Profile, Provider};
use strsim::osa_distance;

use super::{Config, ConfigError};

/// Rocket's table of databases.
const DATABASES: &str = "databases";
/// Keys that older versions read, and what to use instead.
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
/// The profiles that Rocket reads in addition to the selected one.
const PROFILES: [Profile; 2] = [Profile::Default, Profile::Global];

/// Returns whether a key belongs beside the service's table rather than into it.
pub(super) fn is_rockets(key: &str) -> bool {
    key == DATABASES || rocket::Config::PARAMETERS.contains(&key)
}

/// Refuses a table of the service's settings in a place where it is not read, and keys that older versions read.
pub(super) fn refuse(figment: &Figment) -> Result<(), ConfigError> {
    for (key, instead) in REMOVED {
        if let Ok(value) = figment.find_value(key) {
            return Err(ConfigError::removed(key, format!("{instead}{}", place(figment, &value))));
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
            let right = if is_read(figment, &profile) { profile } else { Profile::Default };
            let reason = format!(
                "nothing reads this table: write [{right}.{}] instead, for the tables below it as well",
                Config::KEY
            );
            return Err(ConfigError::new(&table, format!("{reason}{}", place(figment, &value))));
        }
    }
    Ok(())
}

/// Returns all top-level keys of all profiles. If the figment has an error, it returns none; extracting the configuration
/// reports the error.
fn entries(figment: &Figment) -> impl Iterator<Item = (Profile, String, Value)> {
    let profiles = figment.data().unwrap_or_default().into_iter();
    profiles
        .flat_map(|(profile, keys)| keys.into_iter().map(move |(key, value)| (profile.clone(), key, value)))
}

/// Returns whether the keys of a profile are read.
fn is_read(figment: &Figment, profile: &Profile) -> bool {
    profile == figment.profile() || PROFILES.contains(profile)
}

/// Returns where a value was set, in parentheses.
fn place(figment: &Figment, value: &Value) -> String {
    let metadata = figment.get_metadata(value.tag());
    metadata.map_or_else(String::new, |metadata| match &metadata.source {
        Some(source) => format!(" ({source})"),
        None => format!(" ({})", metadata.name),
    })
}

/// Returns whether one letter is extra, missing, wrong or in the wrong place, or only the case differs.
fn resembles(written: &str, known: &str) -> bool {
    written != known && osa_distance(&written.to_ascii_lowercase(), known) <= 1
}
