//! The schema: forward-only migrations, in the order of their numbers.

use sqlx::PgConnection;
use sqlx::migrate::{self, Migrate, Migration, Migrator};

use crate::stores::{AppliedMigration, OpenError};

/// A new file in the folder is a new migration.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");
const APPLIED: &str = "_sqlx_migrations";

/// The number of applied migrations, and the database's time.
pub(super) const SUCCEEDED: &str = "SELECT count(*), clock_timestamp() FROM _sqlx_migrations WHERE success";

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SchemaError {
    #[error(
        "the database's schema is at version {found} and needs {needed}: run `siaga migrate`, or set siaga.postgres.migrate"
    )]
    Old { found: usize, needed: usize },
    /// A newer version of the program has migrated the database.
    #[error(
        "the database's schema is at version {found}, made for a newer version of the service; this one knows {known}"
    )]
    New { found: usize, known: usize },
    /// An applied migration differs from this program's migration with the same number.
    #[error("migration {version} of the database is not the one this service has")]
    Changed { version: i64 },
}

pub(super) fn needed() -> usize {
    MIGRATIONS.iter().count()
}

/// Applies the missing migrations, each in its own transaction, and returns them. An advisory lock lets one server migrate at a
/// time; the others wait.
pub(super) async fn migrate(connection: &mut PgConnection) -> Result<Vec<AppliedMigration>, OpenError> {
    connection.lock().await?;
    let migrated = apply_missing(connection).await;
    connection.unlock().await?;
    migrated
}

async fn apply_missing(connection: &mut PgConnection) -> Result<Vec<AppliedMigration>, OpenError> {
    connection.ensure_migrations_table(APPLIED).await?;
    let before = applied(connection).await?;
    let mut done = Vec::new();
    for migration in MIGRATIONS.iter().skip(before) {
        let took = connection.apply(APPLIED, migration).await?;
        done.push(AppliedMigration {
            number: migration.version,
            name: migration.description.to_string(),
            took,
        });
    }
    Ok(done)
}

/// Fails if the schema lacks migrations of this program, or has different ones.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), OpenError> {
    let migrated: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(APPLIED)
        .fetch_one(&mut *connection)
        .await?;
    let found = if migrated { applied(connection).await? } else { 0 };
    if found < needed() {
        return Err(SchemaError::Old { found, needed: needed() }.into());
    }
    Ok(())
}

/// Returns the number of applied migrations; 0 if none was ever applied.
pub(super) async fn version(connection: &mut PgConnection) -> Result<usize, sqlx::Error> {
    let migrated: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(APPLIED)
        .fetch_one(&mut *connection)
        .await?;
    if !migrated {
        return Ok(0);
    }
    let count: i64 = sqlx::query_scalar(SUCCEEDED).fetch_one(connection).await?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns the number of applied migrations. Fails if they are not the first migrations of this program.
async fn applied(connection: &mut PgConnection) -> Result<usize, OpenError> {
    let applied = connection.list_applied_migrations(APPLIED).await?;
    if applied.len() > needed() {
        return Err(SchemaError::New { found: applied.len(), known: needed() }.into());
    }
    let matches = |(migration, applied): &(&Migration, &migrate::AppliedMigration)| {
        migration.version == applied.version && migration.checksum == applied.checksum
    };
    match MIGRATIONS.iter().zip(&applied).find(|pair| !matches(pair)) {
        Some((migration, _)) => Err(SchemaError::Changed { version: migration.version }.into()),
        None => Ok(applied.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo does not notice a new migration file: change this source file too.
    #[test]
    fn migration_files_are_numbered_without_gaps() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let entries = std::fs::read_dir(folder).unwrap();
        let files = entries.filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
        let versions: Vec<_> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=i64::try_from(files).unwrap()).collect::<Vec<_>>());
    }
}
