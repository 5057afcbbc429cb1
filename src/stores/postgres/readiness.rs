use std::time::Duration;

use rocket::tokio::time;

use super::changes::Changes;
use super::connections::Connections;
use super::schema;
use crate::stores::{Check, StoreError};

/// How long the database may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(2);
const APPLIED: &str = "SELECT count(*) FROM _sqlx_migrations WHERE success";

/// Whether the database answers, has the schema, and is listened to.
pub(super) async fn checks(connections: &Connections, changes: &Changes) -> Vec<Check> {
    let mut applied = None;
    let store = Check::of("store", "the database does not answer", async {
        applied = time::timeout(PATIENCE, Box::pin(migrations(connections))).await.ok().and_then(Result::ok);
        applied.ok_or(())
    });
    let store = store.await;
    // A newer server may have migrated it: those that run go on with that.
    let fits = applied.is_some_and(|applied| applied >= schema::NEEDED);
    let took = store.took;
    let old = "the schema is not known to be the one needed: run `siaga migrate`";
    let migrations = Check { name: "migrations", required: true, failure: (!fits).then_some(old), took };
    let listener = Check::of("listener", "the revisions are not known at present", async {
        // Just after the start it takes a moment.
        for _ in 0..4 {
            if changes.is_heard() {
                break;
            }
            time::sleep(Duration::from_millis(50)).await;
        }
        changes.is_heard().then_some(()).ok_or(())
    });
    // Without it the database is asked for the revisions.
    vec![store, migrations, listener.await.optional()]
}

async fn migrations(connections: &Connections) -> Result<usize, StoreError> {
    let rows: Vec<(i64,)> = connections.read_primary(sqlx::query_as(APPLIED)).await?;
    Ok(rows.first().and_then(|&(count,)| usize::try_from(count).ok()).unwrap_or(0))
}
