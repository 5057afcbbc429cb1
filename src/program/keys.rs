//! The command `siaga key`: creates, lists and revokes API keys.

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::time::Duration;

use super::Failure;
use super::table::{or_dash, table};
use crate::Builder;
use crate::auth::{NewKey, PERSON_PREFIX, Scope};
use crate::model::{AreaRule, Clock, NAME, SystemClock, Timestamp, is_name};
use crate::stores::{KeyEntry, Store, StoredKey};
use chrono::DateTime;
use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(super) enum KeyCommand {
    /// Creates a key and prints it once, at the end of the line.
    Create {
        /// The holder of the key. A name is never used again.
        #[arg(long, value_parser = name)]
        name: String,
        /// What the key allows: one or more scopes.
        #[arg(long, required = true, num_args = 1.., value_delimiter = ' ')]
        scope: Vec<Scope>,
        #[command(flatten)]
        areas: AreaArgs,
        /// The person responsible for the key.
        #[arg(long, value_parser = name)]
        owner: Option<String>,
        /// When the key expires: a time such as 2027-01-31T00:00:00Z, or a duration such as 30d.
        #[arg(long, value_name = "WHEN", value_parser = expiry)]
        expires: Option<Expiry>,
        /// How many requests the key may make per second, if different from other keys.
        #[arg(long, value_name = "N")]
        per_second: Option<NonZeroU32>,
        /// How many requests the key may make per day, if different from other keys.
        #[arg(long, value_name = "N")]
        per_day: Option<NonZeroU32>,
    },
    /// Lists all keys, including revoked ones, but never the keys themselves.
    List,
    /// Revokes a key permanently.
    Revoke {
        /// The name of the key.
        name: String,
    },
}

/// The areas in which a key or token sets states and moderates reports. An area must match each option that is given.
#[derive(Args)]
pub(super) struct AreaArgs {
    /// Limits it to the areas of this province, such as ID-JK; may be repeated.
    #[arg(long, value_name = "CODE")]
    province: Vec<String>,
    /// Limits it to the areas of this city, such as jbd; may be repeated.
    #[arg(long, value_name = "CODE")]
    city: Vec<String>,
    /// Limits it to the areas with this name of the city, such as "JAKARTA SELATAN"; may be repeated.
    #[arg(long, value_name = "NAME")]
    city_name: Vec<String>,
    /// Limits it to the areas within this larger area, such as TEBET; may be repeated.
    #[arg(long, value_name = "NAME")]
    parent: Vec<String>,
}

impl AreaArgs {
    /// Returns the rule; `None` for all areas, if no option is given.
    pub(super) fn rule(self) -> Result<Option<AreaRule>, Failure> {
        let values = [self.province, self.city, self.city_name, self.parent];
        if values.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        Ok(Some(AreaRule::new(values)?))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Expiry {
    At(Timestamp),
    After(Duration),
}

pub(super) fn name(text: &str) -> Result<String, String> {
    if text.starts_with(PERSON_PREFIX) {
        return Err(format!("must not begin with {PERSON_PREFIX:?}, which is for people who log in"));
    }
    if is_name(text) { Ok(text.to_owned()) } else { Err(format!("must be {NAME}")) }
}

fn expiry(text: &str) -> Result<Expiry, &'static str> {
    let at = DateTime::parse_from_rfc3339(text).map(|at| Expiry::At(at.to_utc().into()));
    at.or_else(|_| humantime::parse_duration(text).map(Expiry::After))
        .map_err(|_| "must be a time such as 2027-01-31T00:00:00Z, or a duration such as 30d")
}

pub(super) async fn run(builder: &Builder, command: KeyCommand) -> Result<(), Failure> {
    let store = builder.open_persistent_store().await?;
    let result = execute(&*store, command).await;
    store.close().await;
    result
}

async fn execute(store: &dyn Store, command: KeyCommand) -> Result<(), Failure> {
    let mut output = io::stdout();
    match command {
        KeyCommand::Create { name, scope, areas, owner, expires, per_second, per_day } => {
            let now = SystemClock.now();
            let expires = expires.map(|expires| match expires {
                Expiry::At(at) => at,
                Expiry::After(duration) => now.saturating_add(duration),
            });
            if expires.is_some_and(|expires| expires <= now) {
                return Err("--expires: must lie in the future".into());
            }
            let areas = areas.rule()?;
            let faults = match &areas {
                Some(rule) => rule.faults(store.places().await?.value.areas()),
                None => Vec::new(),
            };
            if !faults.is_empty() {
                return Err(faults.join("; ").into());
            }
            let NewKey { key, mut entry } = NewKey::make(&name, scope)?;
            entry.areas = areas;
            entry.expires = expires.map(Timestamp::to_utc);
            (entry.per_second, entry.per_day) = (per_second, per_day);
            store.create_key(KeyEntry { key: entry, owner }).await?;
            writeln!(output, "The key of {name}, which is shown this once: {}", key.expose())?;
        }
        KeyCommand::List => {
            let keys = store.keys().await?.value;
            output.write_all(table(HEADINGS, keys.iter().map(row)).as_bytes())?;
        }
        KeyCommand::Revoke { name } => store.revoke_key(&name).await?,
    }
    Ok(())
}

const HEADINGS: [&str; 10] = [
    "name",
    "scopes",
    "areas",
    "owner",
    "expires",
    "per second",
    "per day",
    "created",
    "last used",
    "revoked",
];

fn row(StoredKey { entry, created_at, revoked_at, last_used }: &StoredKey) -> [String; 10] {
    let scopes: Vec<_> = entry.key.scopes.iter().map(|scope| scope.name()).collect();
    [
        entry.key.name.clone(),
        scopes.join(" "),
        entry.key.areas.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
        or_dash(entry.owner.as_ref()),
        or_dash(entry.key.expires.map(Timestamp::from)),
        or_dash(entry.key.per_second),
        or_dash(entry.key.per_day),
        created_at.to_string(),
        or_dash(*last_used),
        or_dash(*revoked_at),
    ]
}
