//! The schema: migrations that only go forwards, in the order of their numbers.

use sqlx::migrate::{AppliedMigration, Migrate, Migration, MigrationType, Migrator};
use sqlx::{PgConnection, SqlStr};

use crate::stores::OpenError;

const MIGRATIONS: [(i64, &str, &str); 12] = [
    (1, "revisions", include_str!("../../../migrations/0001_revisions.sql")),
    (2, "places", include_str!("../../../migrations/0002_places.sql")),
    (3, "floods", include_str!("../../../migrations/0003_floods.sql")),
    (4, "reports", include_str!("../../../migrations/0004_reports.sql")),
    (5, "gauges", include_str!("../../../migrations/0005_gauges.sql")),
    (6, "images", include_str!("../../../migrations/0006_images.sql")),
    (7, "api_keys", include_str!("../../../migrations/0007_api_keys.sql")),
    (8, "take_over", include_str!("../../../migrations/0008_take_over.sql")),
    (9, "trainings_and_partners", include_str!("../../../migrations/0009_trainings_and_partners.sql")),
    (10, "attributes", include_str!("../../../migrations/0010_attributes.sql")),
    (11, "photo_names", include_str!("../../../migrations/0011_photo_names.sql")),
    (12, "cities", include_str!("../../../migrations/0012_cities.sql")),
];
/// How many migrations the store needs.
pub(super) const NEEDED: usize = MIGRATIONS.len();
/// The table in which the migrations that were applied are listed.
const APPLIED: &str = "_sqlx_migrations";

/// Counts them.
pub(super) const SUCCEEDED: &str = "SELECT count(*) FROM _sqlx_migrations WHERE success";

/// Why the schema is not one the service can work with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Migrations have not been applied.
    #[error(
        "the database's schema is at version {found} and needs {needed}: run `siaga migrate`, or set siaga.postgres.migrate"
    )]
    Old {
        /// The version there.
        found: usize,
        /// The version this program needs.
        needed: usize,
    },
    /// A newer program has migrated the database.
    #[error(
        "the database's schema is at version {found}, made for a newer version of the service; this one knows {known}"
    )]
    New {
        /// The version there.
        found: usize,
        /// The newest this program knows.
        known: usize,
    },
    /// An applied migration is not the one of its number.
    #[error("migration {version} of the database is not the one this service has")]
    Changed {
        /// Its number.
        version: i64,
    },
}

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, SqlStr::from_static(sql), false)
    });
    Migrator::with_migrations(migrations.into())
}

/// Brings the schema up to date.
///
/// Each migration is one transaction. Of several servers one at a time migrates, by an advisory lock, and the others
/// wait for it.
pub(super) async fn migrate(connection: &mut PgConnection) -> Result<(), OpenError> {
    connection.lock().await?;
    let migrated = apply_missing(connection).await;
    connection.unlock().await?;
    migrated
}

async fn apply_missing(connection: &mut PgConnection) -> Result<(), OpenError> {
    connection.ensure_migrations_table(APPLIED).await?;
    let applied = applied(connection).await?;
    for migration in migrator().iter().skip(applied) {
        connection.apply(APPLIED, migration).await?;
    }
    Ok(())
}

/// Makes sure that the schema is the one this program knows.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), OpenError> {
    let migrated: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(APPLIED)
        .fetch_one(&mut *connection)
        .await?;
    let found = if migrated { applied(connection).await? } else { 0 };
    if found < MIGRATIONS.len() {
        return Err(SchemaError::Old { found, needed: MIGRATIONS.len() }.into());
    }
    Ok(())
}

/// Returns how many migrations have been applied, whatever they are.
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

/// How many migrations have been applied: the first so many this program knows.
async fn applied(connection: &mut PgConnection) -> Result<usize, OpenError> {
    let applied = connection.list_applied_migrations(APPLIED).await?;
    if applied.len() > MIGRATIONS.len() {
        return Err(SchemaError::New { found: applied.len(), known: MIGRATIONS.len() }.into());
    }
    let migrator = migrator();
    let same = |(known, applied): &(&Migration, &AppliedMigration)| {
        known.version == applied.version && known.checksum == applied.checksum
    };
    match migrator.iter().zip(&applied).find(|pair| !same(pair)) {
        Some((known, _)) => Err(SchemaError::Changed { version: known.version }.into()),
        None => Ok(applied.len()),
    }
}
