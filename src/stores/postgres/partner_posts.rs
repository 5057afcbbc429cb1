use std::sync::Arc;

use async_trait::async_trait;

use super::PostgresStore;
use super::link::Link;
use super::revision::revision;
use super::rows::{new_report, recordset};
use super::values::column;
use crate::model::Places;
use crate::model::bodies::PartnerReport;
use crate::stores::{FeedStore, ReceiveOutcome, StoreError, Versioned};

/// Publishes a new post, unless it is already known, or the places have changed since its tags were computed.
const RECEIVE: &str = concat!(
    "WITH places AS (
        SELECT revision FROM current_revisions WHERE resource = 'places'
    ), made AS (
        INSERT INTO reports (",
    new_report!(),
    "post_id) SELECT ",
    new_report!(),
    "$2 FROM places, json_populate_recordset(NULL::reports, $1::json) AS posts
        WHERE revision = $3 AND (SELECT true FROM reports WHERE reports.post_id = $2) IS NULL
          AND (SELECT true FROM erased_reports erased WHERE erased.post_id = $2) IS NULL
        ON CONFLICT (post_id) WHERE post_id IS NOT NULL DO NOTHING
        RETURNING post_id
    )
    SELECT places.revision, EXISTS (SELECT FROM made) FROM places"
);

#[async_trait]
impl FeedStore for PostgresStore {
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<ReceiveOutcome, StoreError> {
        self.connections.retry_locked(|| self.receive_post(&report)).await
    }
}

impl PostgresStore {
    /// Stores a partner's post, unless it is already stored. Tries again if an import has changed the places meanwhile.
    async fn receive_post(&self, post: &PartnerReport) -> Result<ReceiveOutcome, StoreError> {
        let mut places = self.places.get_or_load(&self.connections).await?;
        loop {
            let mut link = self.connections.writer().await?;
            let outcome = receive(&mut link, &places, post).await.map_err(StoreError::from);
            self.connections.announce_write(&outcome);
            let (current, is_new) = link.finish(outcome)?;
            if revision(current) == places.revision {
                return Ok(if is_new { ReceiveOutcome::Created } else { ReceiveOutcome::Existing });
            }
            places = self.places.load(&self.connections).await?;
        }
    }
}

/// Returns the current revision of the places, and whether the post was published.
async fn receive(
    link: &mut Link,
    places: &Versioned<Arc<Places>>,
    post: &PartnerReport,
) -> Result<(i64, bool), sqlx::Error> {
    let tags = places.value.locator().locate(post.content.location);
    sqlx::query_as(RECEIVE)
        .bind(recordset(&[(&post.content, &tags)])?)
        .bind(post.post_id)
        .bind(column(places.revision.0))
        .fetch_one(&mut **link)
        .await
}
