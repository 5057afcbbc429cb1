//! What pages have for the database.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::blocks::blocks;
use crate::fixture::block_on;
use crate::postgres::Database;

const COGNICITY: &str = include_str!("../common/cognicity.sql");

/// Roles are of all databases of the tests, so nothing of it stays.
#[test]
fn what_pages_have_for_the_database_runs_in_their_order() {
    let blocks = blocks("sql");
    assert!(blocks.len() > 3, "{blocks:?}");
    block_on(async {
        let database = Database::with_fixture().await;
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        // One page is about the database of a CogniCity.
        transaction.execute(COGNICITY).await.unwrap();
        for block in blocks {
            let done = transaction.execute(AssertSqlSafe(block.text.clone())).await;
            assert!(done.is_ok(), "{done:?} of {block:?}");
        }
        transaction.rollback().await.unwrap();
        connection.close().await.unwrap();
    });
}
