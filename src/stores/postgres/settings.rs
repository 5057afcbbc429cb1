use std::time::Duration;

use figment::Figment;
use figment::providers::Serialized;
use rocket_db_pools::{Config, Database};
use serde::{Deserialize, Serialize};

use super::pool::{PostgresPool, Primary, Replica};
use crate::duration;
use crate::stores::OpenError;

/// How the store behaves at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the start brings an old schema up to date; otherwise it refuses one. **Default: `true`**
    pub migrate: bool,
    /// How long a start without the database goes on, answering 503, until it ends the service. **Default: `0s`:
    /// the start fails at once**
    #[serde(with = "duration")]
    pub wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { migrate: true, wait: Duration::ZERO }
    }
}

/// The databases the configuration names, as Rocket's table `databases` has them.
#[derive(Debug)]
pub(super) struct Databases {
    pub(super) primary: PostgresPool,
    pub(super) replica: Option<PostgresPool>,
}

impl Databases {
    /// Reads `databases.siaga` and, where there is one, `databases.siaga_read`. Connects to neither.
    pub(super) fn read(figment: &Figment, timeout: Duration) -> Result<Self, OpenError> {
        let primary = pool::<Primary>(figment, timeout)?;
        let primary =
            primary.ok_or("databases.siaga.url: missing; the postgres store needs it (or DATABASE_URL)")?;
        Ok(Self { primary, replica: pool::<Replica>(figment, timeout)? })
    }
}

fn pool<D: Database<Pool = PostgresPool>>(
    figment: &Figment,
    timeout: Duration,
) -> Result<Option<PostgresPool>, OpenError> {
    let key = format!("databases.{}", D::NAME);
    if !figment.contains(&key) {
        return Ok(None);
    }
    let workers = figment.extract_inner(rocket::Config::WORKERS).unwrap_or(rocket::Config::default().workers);
    // As a fairing of the crate that defines the table fills it.
    let table = figment
        .focus(&key)
        .join(Serialized::default("max_connections", workers * 4))
        .join(Serialized::default("connect_timeout", 5));
    let config: Config = table.extract().map_err(|error| {
        // Its own text could show the address with its password.
        let path = error.path.last().map_or_else(String::new, |name| format!(".{name}"));
        format!("{key}{path}: must be as README.md shows it")
    })?;
    // The error's own text could show the address with its password.
    let wrong =
        || format!("{key}.url: must be the address of a database, postgres://user:password@host/name");
    if !["postgres://", "postgresql://"].iter().any(|scheme| config.url.starts_with(scheme)) {
        return Err(wrong().into());
    }
    PostgresPool::new(&config, D::NAME, timeout).map(Some).map_err(|_| wrong().into())
}
