//! The schema: forward-only migrations, in the order of their numbers.

use std::collections::BTreeSet;

use sqlx::migrate::{Migrate, Migrator};
use sqlx::{Connection, SqliteConnection, query_as, query_scalar};

use super::error::FileError;

use crate::stores::{AppliedMigration, OpenError};

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations/file");
const APPLIED: &str = "_sqlx_migrations";

const IS_THERE: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
const IS_EMPTY: &str = "SELECT count(*) = 0 FROM sqlite_master";
const OBJECTS: &str = "
    SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'";

/// Why the service cannot work with the schema of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileSchemaError {
    #[error("its schema is at version {found} and needs {needed}: run `siaga migrate`, or start the server")]
    Old { found: usize, needed: usize },
    #[error(
        "its schema is at version {found}, made for a newer version of the service; this one knows {known}"
    )]
    New { found: usize, known: usize },
    #[error("migration {version} of the file is not the one this service has")]
    Changed { version: i64 },
    #[error("it is a database of another program")]
    Foreign,
}

pub(super) fn needed() -> usize {
    MIGRATIONS.iter().count()
}

/// Applies the missing migrations, each in one transaction, and returns them. The caller must exclude other processes.
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

/// Fails if the file lacks migrations of this program, or has unknown ones.
pub(super) async fn check(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    match version(connection).await? {
        found if found < needed() => Err(FileSchemaError::Old { found, needed: needed() }.into()),
        _ => Ok(()),
    }
}

/// Fails if the schema's objects differ from those that the migrations create. A foreign trigger, for example, could change data.
pub(super) async fn compare(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let mut expected = SqliteConnection::connect("sqlite::memory:").await?;
    migrate(&mut expected).await?;
    let (expected, found) = (objects(&mut expected).await?, objects(connection).await?);
    match expected.symmetric_difference(&found).next() {
        Some((name, _)) => Err(format!("the {name} is not as this service makes it").into()),
        None => Ok(()),
    }
}

async fn objects(connection: &mut SqliteConnection) -> Result<BTreeSet<(String, String)>, FileError> {
    Ok(query_as(OBJECTS).fetch_all(connection).await?.into_iter().collect())
}

/// Returns the number of applied migrations. Fails if they are not the first migrations of this program.
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

pub(super) async fn count_applied(connection: &mut SqliteConnection) -> Result<usize, sqlx::Error> {
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

    /// Cargo does not notice a new migration file: change this source file too.
    #[test]
    fn migrations_are_numbered_without_gaps() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/file");
        let files = std::fs::read_dir(folder).unwrap().count();
        let versions: Vec<_> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=i64::try_from(files).unwrap()).collect::<Vec<_>>());
    }
}
