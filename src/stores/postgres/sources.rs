use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::PostgresStore;
use super::statement::Query;
use super::values::moment;
use crate::model::Timestamp;
use crate::stores::{SourceStore, StoreError};

const RECORD: &str = "
    INSERT INTO sources AS known (name, last_heard_at) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET last_heard_at = excluded.last_heard_at
    WHERE known.last_heard_at < excluded.last_heard_at
    RETURNING true";

const LAST_HEARD: &str = "SELECT name, last_heard_at FROM sources";

// The trait's default methods need a `ServiceState`, which this store does not have: implement every method.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl SourceStore for PostgresStore {
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        let query: Query<(bool,)> = sqlx::query_as(RECORD).bind(source.to_owned()).bind(moment(at));
        self.connections.write_untracked(query).await.map(drop)
    }

    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        let query: Query<(String, DateTime<Utc>)> = sqlx::query_as(LAST_HEARD);
        let rows = self.connections.read(query).await?;
        Ok(rows.into_iter().map(|(name, at)| (name, at.into())).collect())
    }
}
