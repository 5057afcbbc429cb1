use std::collections::BTreeMap;

use async_trait::async_trait;

use super::PostgresStore;
use super::revision::versioned;
use super::rows::recordset;
use super::statement::Query;
use super::values::moment;
use crate::model::Timestamp;
use crate::stores::{KeyEntry, KeyStore, Revision, StoreError, StoredKey, Versioned};

const CREATE: &str = "
    INSERT INTO api_keys (name, sha256, scopes, owner, expires_at, per_second, per_day, created_at)
    SELECT name, sha256, scopes, owner, expires_at, per_second, per_day, created_at
    FROM json_populate_recordset(NULL::api_keys, $1::json)
    ON CONFLICT DO NOTHING
    RETURNING true";

const KEYS: &str = "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (
        SELECT name, sha256, scopes, owner, expires_at, per_second, per_day, created_at, revoked_at, last_used_at
        FROM api_keys LEFT JOIN api_key_uses USING (name)
    ) asked ON true
    WHERE now.resource = 'keys'
    ORDER BY name";

const REVOKE: &str =
    "UPDATE api_keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING true";

const EXISTS: &str = "SELECT true FROM api_keys WHERE name = $1";

/// Rows are sorted by name, so that two such statements cannot deadlock.
const RECORD_USES: &str = "
    INSERT INTO api_key_uses AS known (name, last_used_at)
    SELECT name, used_at FROM unnest($1::text[], $2::timestamptz[]) AS used (name, used_at) JOIN api_keys USING (name)
    ORDER BY name
    ON CONFLICT (name) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE known.last_used_at < excluded.last_used_at
    RETURNING true";

/// `(true,)`: a statement returns this row if its condition holds, and no row otherwise.
type TrueRow = (bool,);

// The trait's default methods need a `ServiceState`, which this store does not have: implement every method.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl KeyStore for PostgresStore {
    async fn create_key(&self, entry: KeyEntry) -> Result<(), StoreError> {
        let key = StoredKey { entry, created_at: self.clock.now(), revoked_at: None, last_used: None };
        let query: Query<TrueRow> = sqlx::query_as(CREATE).bind(recordset([&key])?);
        let created = !self.connections.write(query).await?.is_empty();
        created.then_some(()).ok_or_else(|| StoreError::key_exists(&key.entry.key.name))
    }

    async fn keys(&self) -> Result<Versioned<Vec<StoredKey>>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(KEYS)).await?;
        versioned(rows, Ok)
    }

    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        self.revision_by_name("keys").await
    }

    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let query: Query<TrueRow> =
            sqlx::query_as(REVOKE).bind(name.to_owned()).bind(moment(self.clock.now()));
        if !self.connections.write(query).await?.is_empty() {
            return Ok(());
        }
        let query: Query<TrueRow> = sqlx::query_as(EXISTS).bind(name.to_owned());
        let exists = !self.connections.read(query).await?.is_empty();
        exists.then_some(()).ok_or_else(|| StoreError::no_key(name))
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        // One `INSERT … ON CONFLICT` may change a row only once.
        let mut latest: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for (name, at) in uses {
            latest.entry(name).and_modify(|known| *known = (*known).max(*at)).or_insert(*at);
        }
        let query: Query<TrueRow> = sqlx::query_as(RECORD_USES)
            .bind(latest.keys().map(|&name| name.to_owned()).collect::<Vec<_>>())
            .bind(latest.values().map(|&at| moment(at)).collect::<Vec<_>>());
        self.connections.write_untracked(query).await.map(drop)
    }
}
