use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use super::PostgresStore;
use super::link::Link;
use super::moderation::is_photo;
use super::revision::revision;
use super::rows::{new_report, recordset};
use super::statement::Query;
use super::values::{column, count, moment, number};
use crate::model::{
    Card, CardHolder, CardId, Report, ReportContent, Tags, Timestamp, Waiting, WaitingOrigin,
};
use crate::stores::cards::random_card_id;
use crate::stores::{CardStore, StoreError};

const CREATE: &str = "
    INSERT INTO cards (card_id, username, network, language, network_data, created_at)
    VALUES ($1, $2, $3, $4, $5::json, $6)
    ON CONFLICT (card_id) DO NOTHING RETURNING pkey";

pub(super) const CARD: &str = "
    SELECT card_id, cards.pkey, username, network, language, network_data::text AS network_data, reports.pkey AS report,
           cards.created_at
    FROM cards LEFT JOIN reports USING (card_id) WHERE card_id = $1";

/// Stores the report of a card, unless the card already has a report or does not exist, or the places have changed since the tags
/// were computed. The unique index admits one of several concurrent reports. The lock on the card prevents concurrent erasure.
const RECEIVE: &str = concat!(
    "WITH card AS (
        SELECT card_id, EXISTS (SELECT FROM reports WHERE reports.card_id = cards.card_id) AS received
        FROM cards WHERE card_id = $2 FOR KEY SHARE
    ), places AS (
        SELECT revision FROM current_revisions WHERE resource = 'places'
    ), made AS (
        INSERT INTO reports (",
    new_report!(),
    "card_id, hidden, waiting, sender, is_suspect, waiting_since) SELECT ",
    new_report!(),
    "card.card_id, $4, $4, $5, $6, CASE WHEN $4 THEN $7::timestamptz END
        FROM places, card, json_populate_recordset(NULL::reports, $1::json) AS report
        WHERE NOT received AND revision = $3
        ON CONFLICT (card_id) WHERE card_id IS NOT NULL DO NOTHING
        RETURNING pkey
    )
    SELECT places.revision, EXISTS (SELECT FROM card) AS known, (SELECT pkey FROM made) AS pkey FROM places"
);

/// Sets the image `$2` of the report of card `$1`, if the report has no image and the condition holds. If the report is hidden,
/// queues its photo to be moved.
macro_rules! showing {
    ($before:expr, $condition:expr) => {
        concat!(
            "WITH ",
            $before,
            "shown AS (
                UPDATE reports SET image_url = $2 WHERE card_id = $1 AND image_url IS NULL ",
            $condition,
            " RETURNING hidden
            ), moved AS (
                INSERT INTO photo_moves (photo, target, due_at)
                SELECT $2, 'hidden', $3 FROM shown WHERE hidden AND ",
            is_photo!("$2"),
            " ON CONFLICT (photo) DO UPDATE SET target = excluded.target
            )
            SELECT true FROM shown"
        )
    };
}
pub(super) use showing;

const SHOW_IMAGE: &str = showing!("", "");

/// Erases unused cards. Fails if a card gets its report meanwhile. The subquery uses an index; a join would read all reports.
const ERASE_UNUSED: &str = "
    WITH old AS (
        SELECT card_id FROM cards
        WHERE created_at >= $1 AND created_at < $2
          AND (SELECT true FROM reports WHERE reports.card_id = cards.card_id) IS NULL
        ORDER BY created_at LIMIT $3
    ), no_images AS (
        DELETE FROM images USING old WHERE images.card_id = old.card_id
    ), gone AS (
        DELETE FROM cards USING old WHERE cards.card_id = old.card_id RETURNING true
    )
    SELECT count(*) FROM gone";

impl PostgresStore {
    /// Stores the report of a card, and tries again if an import has changed the places meanwhile.
    async fn receive(
        &self,
        id: &CardId,
        content: &ReportContent,
        waiting: Option<WaitingOrigin>,
    ) -> Result<Arc<Report>, StoreError> {
        let now = self.clock.now();
        let waiting = waiting.map(|origin| Waiting { origin, since: now });
        let mut places = self.places.get_or_load(&self.connections).await?;
        loop {
            let tags = places.value.locator().locate(content.location);
            let mut link = self.connections.writer().await?;
            let outcome = receive(&mut link, id, content, &tags, places.revision.0, waiting).await;
            let outcome = outcome.map_err(StoreError::from);
            self.connections.announce_write(&outcome);
            let (now, exists, key) = link.finish(outcome)?;
            if revision(now) != places.revision {
                places = self.places.load(&self.connections).await?;
                continue;
            }
            return match key {
                Some(key) => Ok(Arc::new(Report { key: number(key)?, content: content.clone(), tags })),
                None if exists => Err(StoreError::card_used(id)),
                None => Err(StoreError::no_card(id)),
            };
        }
    }
}

/// Returns the revision of the places, whether the card exists, and the key of the report if one was stored.
async fn receive(
    link: &mut Link,
    id: &CardId,
    content: &ReportContent,
    tags: &Tags,
    places: u64,
    waiting: Option<Waiting>,
) -> Result<(i64, bool, Option<i64>), sqlx::Error> {
    sqlx::query_as(RECEIVE)
        .bind(recordset(&[(content, tags)])?)
        .bind(id.as_str())
        .bind(column(places))
        .bind(waiting.is_some())
        .bind(waiting.and_then(|waiting| waiting.origin.sender).map(|sender| sender.to_string()))
        .bind(waiting.is_some_and(|waiting| waiting.origin.is_suspect))
        .bind(waiting.map(|waiting| moment(waiting.since)))
        .fetch_one(&mut **link)
        .await
}

#[async_trait]
impl CardStore for PostgresStore {
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        loop {
            match self.create_card_as(&random_card_id()?, holder.clone()).await {
                Err(StoreError::Conflict { .. }) => {}
                created => return created,
            }
        }
    }

    async fn create_card_as(&self, id: &CardId, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        let created_at = self.clock.now();
        let created = sqlx::query_as(CREATE)
            .bind(id.as_str().to_owned())
            .bind(holder.username.clone())
            .bind(holder.network.clone())
            .bind(holder.language.clone())
            .bind(holder.network_data.as_deref().map(|data| data.get().to_owned()))
            .bind(moment(created_at));
        let Some((pkey,)) = self.connections.write(created).await?.pop() else {
            return Err(StoreError::card_exists(id));
        };
        let pkey: i64 = pkey;
        let (pkey, created_at) = (pkey.cast_unsigned(), Some(created_at));
        Ok(Arc::new(Card { pkey, id: id.clone(), holder, report: None, created_at }))
    }

    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(CARD).bind(id.as_str().to_owned())).await?;
        rows.into_iter().next().map(Arc::new).ok_or_else(|| StoreError::no_card(id))
    }

    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError> {
        self.connections.retry_locked(|| self.receive(id, &content, None)).await
    }

    async fn receive_waiting_report(
        &self,
        id: &CardId,
        content: ReportContent,
        origin: WaitingOrigin,
    ) -> Result<Arc<Report>, StoreError> {
        self.connections.retry_locked(|| self.receive(id, &content, Some(origin))).await
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError> {
        let query: Query<(bool,)> = sqlx::query_as(SHOW_IMAGE)
            .bind(id.as_str().to_owned())
            .bind(image.to_owned())
            .bind(moment(self.clock.now()));
        Ok(!self.connections.write(query).await?.is_empty())
    }

    async fn erase_unused_cards(&self, created: Range<Timestamp>, most: u32) -> Result<u64, StoreError> {
        let query: Query<(i64,)> = sqlx::query_as(ERASE_UNUSED)
            .bind(moment(created.start))
            .bind(moment(created.end))
            .bind(i64::from(most));
        count(self.connections.write_untracked(query).await?)
    }
}
