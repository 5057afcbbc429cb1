//! Unreadable rows in a database.

use siaga::stores::OpenStore;
use siaga::stores::postgres::OpenPostgres;
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;

use crate::fixture::{block_on, now};
use crate::postgres::Database;
use crate::service_config::ServiceConfig;

/// A database in which the oldest report, 4, has a card with an invalid identifier.
async fn with_bad_row() -> (Database, PgConnection) {
    const SPOIL: &str = "
        INSERT INTO cards (card_id, username, network, language) VALUES (E'bad\\x07card', '', '', '');
        UPDATE reports SET post_id = NULL, card_id = E'bad\\x07card' WHERE pkey = 4";

    let database = Database::with_fixture().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    connection.execute(SPOIL).await.unwrap();
    (database, connection)
}

async fn remaining_reports(connection: &mut PgConnection) -> Vec<i64> {
    sqlx::query_scalar("SELECT pkey FROM reports ORDER BY pkey").fetch_all(connection).await.unwrap()
}

#[rocket::async_test]
async fn an_unreadable_report_does_not_block_the_erasure_of_others() {
    let (database, mut connection) = with_bad_row().await;
    let store = OpenPostgres.open(&database.settings()).await.unwrap().store;
    let later = now().saturating_add(Duration::from_hours(24));
    // Report 8 is newer.
    for expected in [1, 1, 1, 1, 1, 1, 0] {
        assert_eq!(store.erase_reports(later, 1).await.unwrap(), expected);
    }
    assert_eq!(remaining_reports(&mut connection).await, [4, 8]);
}

#[test]
fn an_unreadable_report_is_named_in_the_log() {
    let (database, connection) = block_on(with_bad_row());
    drop(connection);
    let config = ServiceConfig::in_database(&database.url()).with("SIAGA_REPORTS__KEEP", "1d");
    let service = config.with("ROCKET_LOG_LEVEL", "normal").start();
    let line = service.until("the report is named", |service| {
        let errors = service.errors();
        errors.lines().find(|line| line.contains("cannot be read and are not erased")).map(str::to_owned)
    });
    assert!(line.contains("reports=[4]") && line.contains("count=1"), "{line}");
}

#[test]
fn a_month_of_the_archive_that_cannot_be_written_is_named_in_the_log() {
    const SPOIL: &str = "
        ALTER TABLE reports DROP CONSTRAINT reports_location_check;
        UPDATE reports SET location = ST_SetSRID(ST_MakePoint(500, 500), 4326) WHERE pkey = 4";

    let database = block_on(async {
        let database = Database::with_fixture().await;
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        connection.execute(SPOIL).await.unwrap();
        database
    });
    let folder = tempfile::tempdir().unwrap();
    let config = ServiceConfig::in_database(&database.url());
    let service = config.with("SIAGA_ARCHIVE__FOLDER", folder.path().to_str().unwrap()).start();
    let line = service.until("the month is named", |service| {
        let errors = service.errors();
        errors.lines().find(|line| line.contains("cannot write a part of the archive")).map(str::to_owned)
    });
    assert!(line.contains("part=\"2016-12\""), "{line}");
}
