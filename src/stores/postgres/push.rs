use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::PostgresStore;
use super::statement::Query;
use super::values::{column, count, moment, number};
use crate::model::Timestamp;
use crate::stores::{NewPushRecord, PushRecord, PushStore, PushUpdate, StoreError};

macro_rules! records {
    ($which:literal) => {
        concat!("SELECT id, version, endpoint, service, due_at, text FROM push_records WHERE ", $which)
    };
}

const RECORD: &str = records!("id = $1");
const PAGE: &str = records!("id > $1 ORDER BY id LIMIT $2");
const DUE: &str = records!("service = $1 AND due_at <= $2 ORDER BY due_at, id LIMIT $3");
const COUNT: &str = "SELECT count(*) FROM push_records";

/// Concurrent statements may exceed the maximum by their number.
const PUT: &str = "
    INSERT INTO push_records AS known (endpoint, service, due_at, text)
    SELECT $1, $2, $3, $4
    WHERE EXISTS (SELECT FROM push_records WHERE endpoint = $1) OR (SELECT count(*) FROM push_records) < $5
    ON CONFLICT (endpoint) DO UPDATE SET
        version = known.version + 1, service = excluded.service, due_at = excluded.due_at, text = excluded.text
    RETURNING id";

/// Rows are locked in the order of their numbers, so that two such statements cannot deadlock.
const UPDATE: &str = "
    WITH updates AS (
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
            AS updates (id, version, endpoint, service, due_at, text)
    ), locked AS (
        SELECT updates.* FROM updates JOIN push_records stored USING (id, version)
        WHERE NOT EXISTS (
            SELECT FROM push_records other WHERE other.endpoint = updates.endpoint AND other.id <> updates.id
        )
        ORDER BY id FOR UPDATE OF stored
    ), removed AS (
        DELETE FROM push_records stored USING locked WHERE stored.id = locked.id AND locked.text IS NULL
        RETURNING stored.id
    ), replaced AS (
        UPDATE push_records stored
        SET version = stored.version + 1, endpoint = locked.endpoint, service = locked.service,
            due_at = locked.due_at, text = locked.text
        FROM locked WHERE stored.id = locked.id AND stored.version = locked.version AND locked.text IS NOT NULL
        RETURNING stored.id
    )
    SELECT id FROM removed UNION ALL SELECT id FROM replaced ORDER BY id";

#[derive(FromRow)]
struct RecordRow {
    id: i64,
    version: i64,
    endpoint: String,
    service: String,
    due_at: Option<DateTime<Utc>>,
    text: String,
}

impl RecordRow {
    fn read(self) -> PushRecord {
        let Self { id, version, endpoint, service, due_at, text } = self;
        let content = NewPushRecord { endpoint, service, due: due_at.map(Timestamp::from), text };
        PushRecord { id: id.cast_unsigned(), version: version.cast_unsigned(), content }
    }
}

impl PostgresStore {
    async fn read_push_records(&self, query: Query<RecordRow>) -> Result<Vec<PushRecord>, StoreError> {
        Ok(self.connections.read(query).await?.into_iter().map(RecordRow::read).collect())
    }
}

// The trait's default methods need a `ServiceState`, which this store does not have: implement every method.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl PushStore for PostgresStore {
    async fn put_push_record(&self, record: NewPushRecord, max: u64) -> Result<Option<u64>, StoreError> {
        let NewPushRecord { endpoint, service, due, text } = record;
        let query = sqlx::query_as(PUT).bind(endpoint).bind(service).bind(due.map(moment)).bind(text);
        let rows: Vec<(i64,)> = self.connections.write_untracked(query.bind(column(max))).await?;
        rows.first().map(|&(id,)| number(id)).transpose()
    }

    async fn push_record(&self, id: u64) -> Result<Option<PushRecord>, StoreError> {
        Ok(self.read_push_records(sqlx::query_as(RECORD).bind(column(id))).await?.pop())
    }

    async fn push_records(&self, after: u64, most: u32) -> Result<Vec<PushRecord>, StoreError> {
        self.read_push_records(sqlx::query_as(PAGE).bind(column(after)).bind(i64::from(most))).await
    }

    async fn due_push_records(
        &self,
        service: &str,
        until: Timestamp,
        most: u32,
    ) -> Result<Vec<PushRecord>, StoreError> {
        let query = sqlx::query_as(DUE).bind(service.to_owned()).bind(moment(until));
        self.read_push_records(query.bind(i64::from(most))).await
    }

    async fn update_push_records(&self, updates: Vec<PushUpdate>) -> Result<Vec<u64>, StoreError> {
        let ids: Vec<i64> = updates.iter().map(|update| column(update.id)).collect();
        let versions: Vec<i64> = updates.iter().map(|update| column(update.version)).collect();
        let contents = || updates.iter().map(|update| update.content.as_ref());
        let texts = |field: fn(&NewPushRecord) -> &String| {
            contents().map(|content| content.map(field).cloned()).collect::<Vec<_>>()
        };
        let (endpoints, services) = (texts(|content| &content.endpoint), texts(|content| &content.service));
        let dues: Vec<_> =
            contents().map(|content| content.and_then(|content| content.due).map(moment)).collect();
        let texts = texts(|content| &content.text);
        let query = sqlx::query_as(UPDATE).bind(ids).bind(versions).bind(endpoints).bind(services);
        let rows: Vec<(i64,)> = self.connections.write_untracked(query.bind(dues).bind(texts)).await?;
        rows.into_iter().map(|(id,)| number(id)).collect()
    }

    async fn count_push_records(&self) -> Result<u64, StoreError> {
        count(self.connections.read(sqlx::query_as(COUNT)).await?)
    }
}
