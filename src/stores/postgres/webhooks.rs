use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::PostgresStore;
use super::statement::Query;
use super::values::column;
use crate::stores::{StoreError, WebhookState, WebhookStore};

const SELECT_STATES: &str = "SELECT name, version, state FROM calls";

const REPLACE_STATE: &str = "
    WITH updated AS (
        UPDATE calls SET version = version + 1, state = $3 WHERE name = $1 AND version = $2 RETURNING true
    ), inserted AS (
        INSERT INTO calls (name, version, state) SELECT $1, 1, $3 WHERE $2 = 0
        ON CONFLICT (name) DO NOTHING RETURNING true
    )
    SELECT * FROM updated UNION ALL SELECT * FROM inserted";

/// The transactions that hold a writer's lock on `reports`. A statement acquires the lock before it picks a key; its transaction
/// holds the lock until it ends. Includes prepared transactions, which have no session.
const OPEN_WRITES: &str = "
    SELECT DISTINCT virtualtransaction FROM pg_locks
    WHERE locktype = 'relation' AND granted AND pid IS DISTINCT FROM pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND relation = 'reports'::regclass
      AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')";

// The trait's default methods need a `ServiceState`, which this store does not have: implement every method.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl WebhookStore for PostgresStore {
    async fn webhook_states(&self) -> Result<BTreeMap<String, WebhookState>, StoreError> {
        let query: Query<(String, i64, String)> = sqlx::query_as(SELECT_STATES);
        let rows = self.connections.read(query).await?;
        let state = |(name, version, text): (_, i64, _)| {
            (name, WebhookState { version: version.cast_unsigned(), text })
        };
        Ok(rows.into_iter().map(state).collect())
    }

    async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
        let query: Query<(bool,)> =
            sqlx::query_as(REPLACE_STATE).bind(name.to_owned()).bind(column(version)).bind(text.to_owned());
        Ok(!self.connections.write_untracked(query).await?.is_empty())
    }

    async fn open_writes(&self) -> Result<BTreeSet<String>, StoreError> {
        let query: Query<(String,)> = sqlx::query_as(OPEN_WRITES);
        Ok(self.connections.read(query).await?.into_iter().map(|(open,)| open).collect())
    }
}
