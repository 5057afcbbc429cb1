use std::collections::BTreeMap;

use async_trait::async_trait;

use super::PostgresStore;
use super::error::backend;
use super::revision::versioned;
use super::rows::recordset;
use super::statement::Query;
use super::values::moment;
use crate::model::Timestamp;
use crate::stores::{
    ENDED_LOGIN_KEPT, EndedLogin, KeyEntry, KeyStore, Revision, StoreError, StoredKey, Versioned,
};

/// Creates a key. The digest of a key with a limit is stored with the limit only; `api_keys` has a digest that no key has.
const CREATE: &str = "
    WITH new AS (
        SELECT * FROM json_populate_recordset(NULL::api_keys, $1::json)
    ), created AS (
        INSERT INTO api_keys (name, sha256, scopes, owner, expires_at, per_second, per_day, created_at)
        SELECT name, CASE WHEN $2::jsonb IS NULL THEN sha256 ELSE sha256(gen_random_uuid()::text::bytea) END,
               scopes, owner, expires_at, per_second, per_day, created_at
        FROM new
        WHERE NOT EXISTS (SELECT FROM api_keys WHERE api_keys.sha256 = new.sha256)
          AND NOT EXISTS (SELECT FROM api_key_limits WHERE api_key_limits.sha256 = new.sha256)
        ON CONFLICT DO NOTHING
        RETURNING name
    ), limited AS (
        INSERT INTO api_key_limits (name, sha256, areas)
        SELECT name, sha256, $2::jsonb FROM created JOIN new USING (name) WHERE $2 IS NOT NULL
    )
    SELECT true FROM created";

const KEYS: &str = "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (
        SELECT name, coalesce(limits.sha256, api_keys.sha256) AS sha256, scopes, areas::text AS areas, owner, expires_at,
               per_second, per_day, created_at, revoked_at, last_used_at
        FROM api_keys LEFT JOIN api_key_uses USING (name) LEFT JOIN api_key_limits limits USING (name)
    ) asked ON true
    WHERE now.resource = 'keys'
    ORDER BY name";

const REVOKE: &str =
    "UPDATE api_keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING true";

const EXISTS: &str = "SELECT true FROM api_keys WHERE name = $1";

/// Adds an ended login, and deletes old ones. The lock makes numbers visible in their order.
const END_LOGINS: &str = "
    WITH old AS (DELETE FROM ended_logins WHERE ended_at < $3)
    INSERT INTO ended_logins (subject, ended_at)
    SELECT $1, $2 FROM (SELECT pg_advisory_xact_lock(hashtext('siaga ended logins'))) AS locked
    RETURNING true";

const ENDED_LOGINS: &str =
    "SELECT number, subject, ended_at FROM ended_logins WHERE ended_at >= $1 ORDER BY number";

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
        let areas = key.entry.key.areas.as_ref().map(serde_json::to_string).transpose().map_err(backend)?;
        let query: Query<TrueRow> = sqlx::query_as(CREATE).bind(recordset([&key])?).bind(areas);
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

    async fn end_logins(&self, subject: &str) -> Result<(), StoreError> {
        let now = self.clock.now();
        let query: Query<TrueRow> = sqlx::query_as(END_LOGINS)
            .bind(subject.to_owned())
            .bind(moment(now))
            .bind(moment(now.saturating_sub(ENDED_LOGIN_KEPT)));
        self.connections.write(query).await.map(drop)
    }

    async fn ended_logins(&self) -> Result<Vec<EndedLogin>, StoreError> {
        let since = self.clock.now().saturating_sub(ENDED_LOGIN_KEPT);
        self.connections.read(sqlx::query_as(ENDED_LOGINS).bind(moment(since))).await
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
