//! The cost of concurrent requests for a revision.

use std::sync::Arc;

use rocket::futures::future::join_all;
use rocket::tokio;
use siaga::model::{Actor, AreaLimit};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, Resource, SetFloodState};
use sqlx::{Connection, PgConnection};

use crate::database::Database;
use crate::end_sessions;
use crate::fixture::{id, state};

const ROUNDS: i64 = 5;
const CALLERS: usize = 1_000;
/// Per write: a few statements of the listener, and sequential ones of callers until the notification arrives.
const STATEMENTS: i64 = 100 * ROUNDS;

/// The number of statements that read revisions.
async fn statements(connection: &mut PgConnection) -> i64 {
    const READS: &str = "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'revisions'";
    sqlx::query_scalar(READS).fetch_one(connection).await.unwrap()
}

#[rocket::async_test]
async fn a_thousand_reads_after_a_write_share_few_statements_and_see_it() {
    let database = Database::with_fixture().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let store = OpenPostgres.open(&database.settings()).await.unwrap().store;
    let before = statements(&mut connection).await;
    for _ in 0..ROUNDS {
        let known = store.revision(Resource::Floods).await.unwrap();
        let by = Actor { subject: "test".to_owned(), username: None };
        store
            .set_flood_state(SetFloodState {
                area: id(1),
                state: Some(state(2)),
                by,
                limit: AreaLimit::Everywhere,
            })
            .await
            .unwrap();
        let callers = (0..CALLERS).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.revision(Resource::Floods).await })
        });
        for revision in join_all(callers).await {
            assert!(revision.unwrap().unwrap() > known, "the write is not seen");
        }
    }
    drop(store);
    end_sessions(&mut connection).await;
    let executed = statements(&mut connection).await - before;
    assert!(executed < STATEMENTS, "{executed} statements");
}
