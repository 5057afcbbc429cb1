//! The schema: migrations that only go forwards, in the order of their numbers.

use std::collections::BTreeSet;

use sqlx::migrate::{Migrate, Migrator};
use sqlx::{Connection, SqliteConnection, query_as, query_scalar};

use super::error::FileError;

use crate::stores::{AppliedMigration, OpenError};

/// The migrations in the folder. A new file there is a new migration.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations/file");
/// The table that lists the migrations that were applied.
const APPLIED: &str = "_sqlx_migrations";

const IS_THERE: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
const IS_EMPTY: &str = "SELECT count(*) = 0 FROM sqlite_master";
/// All tables, views, triggers and indices but `SQLite`'s own.
const OBJECTS: &str = "
    SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'";

/// Why the service cannot work with the schema of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileSchemaError {
    /// Some migrations have not been applied.
    #[error("its schema is at version {found} and needs {needed}: run `siaga migrate`, or start the server")]
    Old {
        /// The version of the file.
        found: usize,
        /// The version that this program needs.
        needed: usize,
    },
    /// A newer program has migrated the file.
    #[error(
        "its schema is at version {found}, made for a newer version of the service; this one knows {known}"
    )]
    New {
        /// The version of the file.
        found: usize,
        /// The newest version that this program knows.
        known: usize,
    },
    /// An applied migration is not the one that this program has under its number.
    #[error("migration {version} of the file is not the one this service has")]
    Changed {
        /// Its number.
        version: i64,
    },
    /// The file is a database of another program.
    #[error("it is a database of another program")]
    Foreign,
}

/// Returns how many migrations the store needs.
pub(super) fn needed() -> usize {
    MIGRATIONS.iter().count()
}

/// Applies the missing migrations, each in one transaction, and returns them. The caller makes sure
/// that no other process does the same.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<Vec<AppliedMigration>, OpenError> {
    let found = version(connection).await?;
    let mut done = Vec::new();
    if found < needed() {
        connection.ensure_migrations_table(APPLIED).await?;
        for migration in MIGRATIONS.iter().skip(found) {
            let took = connection.apply(APPLIED, migration).await?;
            let name = migration.description.to_string();
            done.push(AppliedMigration { number: migration.version, name, took });
        }
    }
    Ok(done)
}

/// Makes sure that the schema is the one that this program knows.
pub(super) async fn check(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    match version(connection).await? {
        found if found < needed() => Err(FileSchemaError::Old { found, needed: needed() }.into()),
        _ => Ok(()),
    }
}

/// Makes sure that a file with the current schema has what the migrations make, and nothing else: a trigger that came with a
/// backup would work on all data.
pub(super) async fn compare(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let mut made = SqliteConnection::connect("sqlite::memory:").await?;
    migrate(&mut made).await?;
    let (made, found) = (objects(&mut made).await?, objects(connection).await?);
    match made.symmetric_difference(&found).next() {
        Some((name, _)) => Err(format!("the {name} is not as this service makes it").into()),
        None => Ok(()),
    }
}

async fn objects(connection: &mut SqliteConnection) -> Result<BTreeSet<(String, String)>, FileError> {
    Ok(query_as(OBJECTS).fetch_all(connection).await?.into_iter().collect())
}

/// Returns how many migrations have been applied. Fails unless they are the first ones that this program knows.
async fn version(connection: &mut SqliteConnection) -> Result<usize, OpenError> {
    if !is_there(connection).await? {
        let is_empty: bool = query_scalar(IS_EMPTY).fetch_one(connection).await?;
        return if is_empty { Ok(0) } else { Err(FileSchemaError::Foreign.into()) };
    }
    let applied = connection.list_applied_migrations(APPLIED).await?;
    if applied.len() > needed() {
        return Err(FileSchemaError::New { found: applied.len(), known: needed() }.into());
    }
    let mut pairs = MIGRATIONS.iter().zip(&applied);
    match pairs
        .find(|(known, applied)| known.version != applied.version || known.checksum != applied.checksum)
    {
        Some((known, _)) => Err(FileSchemaError::Changed { version: known.version }.into()),
        None => Ok(applied.len()),
    }
}

/// Returns how many migrations have been applied, whatever they are.
pub(super) async fn found(connection: &mut SqliteConnection) -> Result<usize, sqlx::Error> {
    if !is_there(connection).await? {
        return Ok(0);
    }
    let count: i64 =
        query_scalar("SELECT count(*) FROM _sqlx_migrations WHERE success").fetch_one(connection).await?;
    Ok(usize::try_from(count).unwrap_or(0))
}

async fn is_there(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let tables: i64 = query_scalar(IS_THERE).fetch_one(connection).await?;
    Ok(tables > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo does not notice a new migration by itself: touch this file.
    #[test]
    fn every_file_of_the_folder_is_a_migration_in_an_order_without_gaps() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/file");
        let files = std::fs::read_dir(folder).unwrap().count();
        let versions: Vec<_> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=i64::try_from(files).unwrap()).collect::<Vec<_>>());
    }
}
