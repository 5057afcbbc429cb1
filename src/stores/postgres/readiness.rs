use std::error::Error;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::Mutex;
use tokio::time;

use super::changes::Changes;
use super::connections::Connections;
use super::schema;
use crate::stores::{Check, StoreError};

/// Checks whether the store can be used.
///
/// It has a connection of its own, so it waits neither for calls nor for their locks.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    held: Mutex<Option<PgConnection>>,
}

/// The connection's name in the database's list of its sessions.
const NAME: &str = "siaga health";
/// How long the database may take to respond; and how long over a connection that may have been lost.
const PATIENCE: Duration = Duration::from_secs(2);
const HELD_PATIENCE: Duration = Duration::from_secs(1);

impl Readiness {
    /// Checks whether the database responds, whether it has the schema, and whether the listener hears from it.
    pub(super) async fn checks(&self, connections: &Connections, changes: &Changes) -> Vec<Check> {
        let mut applied = None;
        let store = Check::of("store", "the database does not respond", async {
            applied = match time::timeout(PATIENCE, self.applied(connections)).await {
                Ok(Ok(applied)) => Some(applied),
                Ok(Err(error)) => {
                    tracing::debug!(error = &error as &dyn Error, "the database is not ready");
                    None
                }
                Err(_elapsed) => None,
            };
            applied.ok_or(())
        });
        let store = store.await;
        let failure = match applied {
            None => Some("unknown while the database does not respond"),
            Some(applied) if applied < schema::needed() => {
                Some("the schema is older than this version needs: run `siaga migrate`")
            }
            // A newer server may have migrated the database. Servers that are running go on with that.
            Some(_) => None,
        };
        let migrations = Check { name: "migrations", required: true, failure, took: store.took };
        let listener = Check::of("listener", "the revisions are not known at present", async {
            // Just after startup it takes a moment.
            for _ in 0..4 {
                if changes.is_heard() {
                    break;
                }
                time::sleep(Duration::from_millis(50)).await;
            }
            changes.is_heard().then_some(()).ok_or(())
        });
        // Without the listener, the revisions are read from the database.
        vec![store, migrations, listener.await.optional()]
    }

    /// Returns how many migrations were applied.
    async fn applied(&self, connections: &Connections) -> Result<usize, StoreError> {
        let mut held = self.held.lock().await;
        if let Some(mut connection) = held.take()
            && let Ok(Ok(applied)) = time::timeout(HELD_PATIENCE, applied(&mut connection)).await
        {
            *held = Some(connection);
            return Ok(applied);
        }
        let mut connection = connections.connect(NAME).await?;
        let applied = applied(&mut connection).await?;
        *held = Some(connection);
        Ok(applied)
    }

    /// Closes the connection.
    pub(super) async fn close(&self) {
        if let Some(connection) = self.held.lock().await.take() {
            // It may be lost already.
            let _ = time::timeout(HELD_PATIENCE, connection.close()).await;
        }
    }
}

async fn applied(connection: &mut PgConnection) -> Result<usize, sqlx::Error> {
    let count: i64 = sqlx::query_scalar(schema::SUCCEEDED).fetch_one(connection).await?;
    Ok(usize::try_from(count).unwrap_or(0))
}
