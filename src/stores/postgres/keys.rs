use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::PostgresStore;
use super::error::backend;
use super::revision::versioned;
use super::statement::Query;
use super::values::moment;
use crate::auth::{ApiKey, KeyDigest, Scope};
use crate::model::Timestamp;
use crate::stores::{KeyEntry, KeyStore, Revision, StoreError, StoredKey, Versioned};

const CREATE: &str = "
    INSERT INTO api_keys (name, sha256, scopes, owner, expires_at, per_second, per_day, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
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

/// Writes in the order of the names, so that two such statements cannot deadlock.
const NOTE: &str = "
    INSERT INTO api_key_uses AS known (name, last_used_at)
    SELECT name, used_at FROM unnest($1::text[], $2::timestamptz[]) AS used (name, used_at) JOIN api_keys USING (name)
    ORDER BY name
    ON CONFLICT (name) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE known.last_used_at < excluded.last_used_at
    RETURNING true";

#[derive(FromRow)]
struct KeyRow {
    name: String,
    sha256: Vec<u8>,
    scopes: Vec<String>,
    owner: Option<String>,
    expires_at: Option<DateTime<Utc>>,
    per_second: Option<i64>,
    per_day: Option<i64>,
    created_at: DateTime<Utc>,
    revoked_at: Option<DateTime<Utc>>,
    last_used_at: Option<DateTime<Utc>>,
}

impl TryFrom<KeyRow> for StoredKey {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let sha256 = <[u8; 32]>::try_from(row.sha256.as_slice()).map_err(backend)?;
        let scopes = row.scopes.iter().map(|name| name.parse::<Scope>().map_err(backend));
        let key = ApiKey {
            name: row.name,
            sha256: KeyDigest::from(sha256),
            scopes: scopes.collect::<Result<_, _>>()?,
            expires: row.expires_at,
            per_second: row.per_second.map(rate).transpose()?,
            per_day: row.per_day.map(rate).transpose()?,
        };
        Ok(Self {
            entry: KeyEntry { key, owner: row.owner },
            created_at: row.created_at.into(),
            revoked_at: row.revoked_at.map(Timestamp::from),
            last_used: row.last_used_at.map(Timestamp::from),
        })
    }
}

fn rate(column: i64) -> Result<NonZeroU32, StoreError> {
    u32::try_from(column).and_then(NonZeroU32::try_from).map_err(backend)
}

/// The row of a statement that returns one row for yes, and none for no.
type Yes = (bool,);

// The default of a missing method would work on a `ServiceState`, which this store does not have.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl KeyStore for PostgresStore {
    async fn create_key(&self, KeyEntry { key, owner }: KeyEntry) -> Result<(), StoreError> {
        let rate = |rate: Option<NonZeroU32>| rate.map(|rate| i64::from(rate.get()));
        let query: Query<Yes> = sqlx::query_as(CREATE)
            .bind(key.name.clone())
            .bind(key.sha256.as_bytes().to_vec())
            .bind(key.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>())
            .bind(owner)
            .bind(key.expires.map(|expires| moment(expires.into())))
            .bind(rate(key.per_second))
            .bind(rate(key.per_day))
            .bind(moment(self.clock.now()));
        let created = !self.connections.write(query).await?.is_empty();
        created.then_some(()).ok_or_else(|| StoreError::key_exists(&key.name))
    }

    async fn keys(&self) -> Result<Versioned<Vec<StoredKey>>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(KEYS)).await?;
        versioned(rows, |row: KeyRow| StoredKey::try_from(row))
    }

    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        self.named_revision("keys").await
    }

    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let query: Query<Yes> = sqlx::query_as(REVOKE).bind(name.to_owned()).bind(moment(self.clock.now()));
        if !self.connections.write(query).await?.is_empty() {
            return Ok(());
        }
        let query: Query<Yes> = sqlx::query_as(EXISTS).bind(name.to_owned());
        let exists = !self.connections.read(query).await?.is_empty();
        exists.then_some(()).ok_or_else(|| StoreError::no_key(name))
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        // One statement may change a row only once.
        let mut latest: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for (name, at) in uses {
            latest.entry(name).and_modify(|known| *known = (*known).max(*at)).or_insert(*at);
        }
        let query: Query<Yes> = sqlx::query_as(NOTE)
            .bind(latest.keys().map(|&name| name.to_owned()).collect::<Vec<_>>())
            .bind(latest.values().map(|&at| moment(at)).collect::<Vec<_>>());
        self.connections.write_unseen(query).await.map(drop)
    }
}
