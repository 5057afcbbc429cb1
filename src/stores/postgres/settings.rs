use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use figment::Figment;
use figment::providers::Serialized;
use figment::value::Dict;
use rocket_db_pools::Config;
use serde::{Deserialize, Serialize};

use super::hosts;
use crate::model::{duration, unknown_key};
use crate::stores::OpenError;

/// How the store behaves at startup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Whether startup brings an old schema up to date; otherwise it fails if the schema is old. **Default: `true`**
    pub(crate) migrate: bool,
    /// How long the service waits for the database at startup, responding 503, before it ends. **Default: `0s`: startup fails at
    /// once**
    #[serde(with = "duration")]
    pub(crate) wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { migrate: true, wait: Duration::ZERO }
    }
}

/// The configuration table of the database, defined by Rocket.
const TABLE: &str = "databases.siaga";
/// The keys of the table that apply to `PostgreSQL`.
const KEYS: [&str; 5] = ["url", "min_connections", "max_connections", "connect_timeout", "idle_timeout"];

/// Reads the configuration of the database. Errors contain no values, because the address contains a password.
pub(super) fn database(figment: &Figment) -> Result<Config, OpenError> {
    if !figment.contains(TABLE) {
        return Err(format!("{TABLE}.url: missing; the postgres store needs it (or DATABASE_URL)").into());
    }
    let table: Dict =
        figment.extract_inner(TABLE).map_err(|_| format!("{TABLE}: must be a table with an url"))?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("{TABLE}.{unknown}: {}", unknown_key(unknown, &KEYS)).into());
    }
    let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN).get();
    let workers = figment.extract_inner("workers").unwrap_or_else(|_| cores());
    // The defaults of `rocket_db_pools`.
    let filled = figment
        .focus(TABLE)
        .join(Serialized::default("max_connections", workers * 4))
        .join(Serialized::default("connect_timeout", 5));
    let config: Config = filled.extract().map_err(|error| match error.path.last() {
        Some(key) => format!("{TABLE}.{key}: must be a number"),
        None => format!("{TABLE}.url: missing"),
    })?;
    hosts::options(&config.url).map_err(|error| format!("{TABLE}.url: {}", reason(&error)))?;
    Ok(config)
}

fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Configuration(reason) => reason.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_its_documented_defaults() {
        let url = "postgres://siaga@127.0.0.1/siaga";
        let figment = Figment::from(Serialized::default("databases.siaga.url", url))
            .merge(Serialized::default("workers", 3));
        let config = database(&figment).unwrap();
        assert_eq!((config.max_connections, config.min_connections), (12, None));
        assert_eq!((config.connect_timeout, config.idle_timeout), (5, None));
    }
}
