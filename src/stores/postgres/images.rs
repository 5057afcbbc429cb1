//! Every operation is one statement. Its outcome depends on the card's row in `images`, which every writing statement locks. At
//! the isolation level `READ COMMITTED`, a statement that has waited for a row re-reads that row for its `WHERE` and for the
//! `WHERE` of `ON CONFLICT DO UPDATE`, but sees all other data as of its start. So [`EXPECT`] may not see that a concurrent
//! statement has set a report's image. But then the state of the card's row in `images` shows it: such rows are removed only with
//! the card, when its report is erased.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::PostgresStore;
use super::cards::showing;
use super::error::backend;
use super::moderation::is_photo;
use super::statement::{Query, Row};
use super::values::moment;
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};
use crate::stores::{ImageStore, StoreError, TakenUpload};

/// Returns the stored key, or stores a new one. Returns no row if a concurrent statement inserts the key: the caller retries.
const SIGNING_KEY: &str = "
    WITH made AS (
        INSERT INTO signing_key (secret) SELECT $1 WHERE NOT EXISTS (SELECT FROM signing_key)
        ON CONFLICT DO NOTHING RETURNING secret
    )
    SELECT secret FROM made UNION ALL SELECT secret FROM signing_key";

const EXPECT: &str = "
    WITH card AS (
        SELECT card_id, reports.pkey IS NOT NULL AS received, image_url IS NOT NULL AS shown
        FROM cards LEFT JOIN reports USING (card_id) WHERE card_id = $1
    ), expected AS (
        INSERT INTO images AS known (card_id, expected_until)
        SELECT card_id, $2 FROM card WHERE (received OR $3) AND NOT shown
        ON CONFLICT (card_id) DO UPDATE SET expected_until = greatest(known.expected_until, excluded.expected_until)
        WHERE known.state = 'expected'
        RETURNING turn
    )
    SELECT received, (SELECT turn FROM expected) AS turn FROM card";

const HAS_UPLOAD: &str = "SELECT true FROM images WHERE card_id = $1 AND state <> 'expected'";

const EXPECTED: &str = "SELECT turn FROM images WHERE card_id = $1 AND state = 'expected'";

/// Marks an expected upload as received. Repeating this for the same object changes nothing.
const RECEIVE: &str = "
    UPDATE images SET state = 'received', object = $3, due_at = coalesce(due_at, $4)
    WHERE card_id = $1 AND turn = $2 AND (state = 'expected' OR state = 'received' AND object = $3)
    RETURNING true";

const EXPECTED_UNTIL: &str = "SELECT max(expected_until) FROM images WHERE state = 'expected'";

/// Counts the received uploads of cards with a report.
const WAITING: &str = "
    SELECT count(*) FROM images
    WHERE state = 'received' AND EXISTS (SELECT FROM reports WHERE reports.card_id = images.card_id)";

/// Takes the next due upload, and skips those that another session is taking.
const TAKE: &str = "
    UPDATE images SET due_at = $2, attempts = attempts + 1
    WHERE card_id = (
        SELECT card_id FROM images
        WHERE state = 'received' AND due_at <= $1
          AND EXISTS (SELECT FROM reports WHERE reports.card_id = images.card_id)
        ORDER BY due_at, card_id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING card_id, turn, object, attempts";

const POSTPONE: &str = "
    UPDATE images SET due_at = $3 WHERE card_id = $1 AND turn = $2 AND state = 'received' RETURNING true";

const REFUSE: &str = "
    UPDATE images SET state = 'expected', turn = turn + 1, object = NULL, due_at = NULL, attempts = 0
    WHERE card_id = $1 AND turn = $2 AND state = 'received' RETURNING true";

/// Publishes an upload. A report that already has an image keeps it; the upload counts as published in either case.
const PUBLISH: &str = showing!(
    "ended AS (
        UPDATE images SET state = 'published', due_at = NULL
        WHERE card_id = $1 AND turn = $4 AND state = 'received'
        RETURNING card_id
    ), ",
    "AND EXISTS (SELECT FROM ended)"
);

/// `(true,)`: a statement returns this row if its condition holds, and no row otherwise.
type TrueRow = (bool,);

#[derive(FromRow)]
struct TakenRow {
    card_id: String,
    turn: i64,
    object: String,
    attempts: i64,
}

impl TryFrom<TakenRow> for TakenUpload {
    type Error = StoreError;

    fn try_from(row: TakenRow) -> Result<Self, StoreError> {
        Ok(Self {
            upload: upload(row.card_id.parse().map_err(backend)?, row.turn)?,
            object: row.object.into(),
            attempt: count(row.attempts)?,
        })
    }
}

fn upload(card: CardId, turn: i64) -> Result<Upload, StoreError> {
    Ok(Upload { card, turn: count(turn)? })
}

fn count(column: i64) -> Result<u32, StoreError> {
    u32::try_from(column).map_err(backend)
}

fn for_card<T: Row>(sql: &'static str, card: &CardId) -> Query<T> {
    sqlx::query_as(sql).bind(card.as_str().to_owned())
}

fn for_upload(sql: &'static str, upload: &Upload) -> Query<TrueRow> {
    for_card(sql, &upload.card).bind(i64::from(upload.turn))
}

impl PostgresStore {
    /// Records that an image of a card is expected. With `early`, the card need not have a report yet.
    async fn expect(&self, card: &CardId, until: Timestamp, early: bool) -> Result<Upload, StoreError> {
        let query: Query<(bool, Option<i64>)> = for_card(EXPECT, card).bind(moment(until)).bind(early);
        match self.connections.write_untracked(query).await?.first() {
            Some(&(_, Some(turn))) => upload(card.clone(), turn),
            Some((received, None)) if *received || early => Err(StoreError::image_exists(card)),
            Some(_) => Err(StoreError::no_card_report(card)),
            None => Err(StoreError::no_card(card)),
        }
    }
}

// The trait's default methods need a `ServiceState`, which this store does not have: implement every method.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ImageStore for PostgresStore {
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        loop {
            let query: Query<(String,)> = sqlx::query_as(SIGNING_KEY).bind(new.expose().to_owned());
            if let Some((secret,)) = self.connections.write_untracked(query).await?.pop() {
                return Ok(secret.into());
            }
        }
    }

    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        self.expect(card, until, false).await
    }

    async fn expect_early_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        self.expect(card, until, true).await
    }

    async fn has_upload(&self, card: &CardId) -> Result<bool, StoreError> {
        let rows: Vec<TrueRow> = self.connections.read(for_card(HAS_UPLOAD, card)).await?;
        Ok(!rows.is_empty())
    }

    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        let turns: Vec<(i64,)> = self.connections.read(for_card(EXPECTED, card)).await?;
        turns.first().map(|&(turn,)| upload(card.clone(), turn)).transpose()
    }

    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        let query = for_upload(RECEIVE, upload).bind(object.to_owned()).bind(moment(self.clock.now()));
        Ok(!self.connections.write_untracked(query).await?.is_empty())
    }

    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let query = sqlx::query_as(EXPECTED_UNTIL);
        let latest: Vec<(Option<DateTime<Utc>>,)> = self.connections.read(query).await?;
        Ok(latest.first().and_then(|&(latest,)| latest).map(Timestamp::from))
    }

    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        let waiting: Vec<(i64,)> = self.connections.read(sqlx::query_as(WAITING)).await?;
        Ok(waiting.first().map_or(0, |(count,)| count.cast_unsigned()))
    }

    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        let now = self.clock.now();
        let query: Query<TakenRow> =
            sqlx::query_as(TAKE).bind(moment(now)).bind(moment(now.saturating_add(lease)));
        self.connections.write_untracked(query).await?.pop().map(TakenUpload::try_from).transpose()
    }

    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        let query = for_upload(POSTPONE, upload).bind(moment(self.clock.now().saturating_add(delay)));
        self.connections.write_untracked(query).await.map(drop)
    }

    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        self.connections.write_untracked(for_upload(REFUSE, upload)).await.map(drop)
    }

    async fn publish_image(&self, upload: &Upload, url: &str) -> Result<bool, StoreError> {
        let query: Query<TrueRow> = for_card(PUBLISH, &upload.card)
            .bind(url.to_owned())
            .bind(moment(self.clock.now()))
            .bind(i64::from(upload.turn));
        Ok(!self.connections.write(query).await?.is_empty())
    }
}
