use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use figment::Figment;
use figment::providers::Serialized;
use figment::value::Dict;
use rocket_db_pools::{Config, Database};
use serde::{Deserialize, Serialize};

use super::hosts;
use super::pool::{PostgresPool, Primary, Replica};
use crate::model::duration;
use crate::stores::OpenError;

/// How the store behaves at startup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Whether startup brings an old schema up to date; otherwise it fails if the schema is old. **Default: `true`**
    pub(crate) migrate: bool,
    /// How long the service waits for the database at startup, responding 503, before it ends.
    /// **Default: `0s`: startup fails at once**
    #[serde(with = "duration")]
    pub(crate) wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { migrate: true, wait: Duration::ZERO }
    }
}

/// The configured databases: Rocket's tables `databases.siaga` and, if there is one, `databases.siaga_read`.
#[derive(Debug)]
pub(super) struct Databases {
    primary: Config,
    replica: Option<Config>,
}

impl Databases {
    pub(super) fn read(figment: &Figment) -> Result<Self, OpenError> {
        let primary = table(figment, Primary::NAME)?;
        let missing = "databases.siaga.url: missing; the postgres store needs it (or DATABASE_URL)";
        Ok(Self { primary: primary.ok_or(missing)?, replica: table(figment, Replica::NAME)? })
    }

    /// Returns the database to write to. It connects when a connection is first requested.
    pub(super) fn primary(&self, timeout: Duration) -> Result<PostgresPool, OpenError> {
        Ok(PostgresPool::new(&self.primary, Primary::NAME, timeout)?)
    }

    /// Returns the database to read from, if there is one.
    pub(super) fn replica(&self, timeout: Duration) -> Result<Option<PostgresPool>, OpenError> {
        let pool = self.replica.as_ref().map(|replica| PostgresPool::new(replica, Replica::NAME, timeout));
        Ok(pool.transpose()?)
    }
}

/// The allowed keys of a table. Keys for other kinds of databases are not allowed.
const KEYS: [&str; 5] = ["url", "min_connections", "max_connections", "connect_timeout", "idle_timeout"];

/// Reads and checks a table. No error shows a value, because an address holds a password.
fn table(figment: &Figment, name: &str) -> Result<Option<Config>, OpenError> {
    let path = format!("databases.{name}");
    if !figment.contains(&path) {
        return Ok(None);
    }
    let table: Dict =
        figment.extract_inner(&path).map_err(|_| format!("{path}: must be a table with an url"))?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("{path}.{unknown}: unknown key; allowed are {}", KEYS.join(", ")).into());
    }
    let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN).get();
    let workers = figment.extract_inner("workers").unwrap_or_else(|_| cores());
    // The same defaults as those of `rocket_db_pools`, which defines the table.
    let filled = figment
        .focus(&path)
        .join(Serialized::default("max_connections", workers * 4))
        .join(Serialized::default("connect_timeout", 5));
    let config: Config = filled.extract().map_err(|error| match error.path.last() {
        Some(key) => format!("{path}.{key}: must be a number"),
        None => format!("{path}.url: missing"),
    })?;
    let hosts = hosts::options(&config.url).map_err(|error| format!("{path}.url: {}", reason(&error)))?;
    if name == Replica::NAME && hosts.len() > 1 {
        return Err(format!("{path}.url: must name one host").into());
    }
    Ok(Some(config))
}

/// Returns what is wrong with an address.
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
            .merge(Serialized::default("databases.siaga_read.url", url))
            .merge(Serialized::default("workers", 3));
        for name in [Primary::NAME, Replica::NAME] {
            let config = table(&figment, name).unwrap().unwrap();
            assert_eq!((config.max_connections, config.min_connections), (12, None));
            assert_eq!((config.connect_timeout, config.idle_timeout), (5, None));
        }
    }
}
