use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::FromRow;

use super::PostgresStore;
use super::batch::{Answers, Write};
use super::link::Link;
use super::new_reports::{NewReport, arguments, new_report};
use super::places::PlacesCache;
use super::revision::{AtRevision, versioned};
use super::values::column;
use crate::model::Places;
use crate::model::bodies::PartnerReport;
use crate::stores::{FeedStore, Received, StoreError, Versioned};

/// Publishes the posts that have not come before, unless the places have changed since the posts' tags were found.
const RECEIVE: &str = concat!(
    "WITH places AS (
        SELECT revision FROM current_revisions WHERE resource = 'places'
    ), made AS (
        INSERT INTO reports (",
    new_report!(names),
    "post_id) SELECT ",
    new_report!(values),
    "post_id FROM places, unnest(",
    new_report!(parameters),
    "$16::bigint[]) AS posts (",
    new_report!(names),
    "post_id)
        -- A subquery for each post, however many reports the planner expects.
        WHERE revision = $17 AND (SELECT true FROM reports WHERE reports.post_id = posts.post_id) IS NULL
          AND (SELECT true FROM erased_reports erased WHERE erased.post_id = posts.post_id) IS NULL
        -- In one order everywhere, so that two statements never wait for each other.
        ORDER BY post_id
        ON CONFLICT (post_id) WHERE post_id IS NOT NULL DO NOTHING
        RETURNING post_id
    )
    SELECT places.revision, made.post_id FROM places LEFT JOIN made ON true"
);

#[derive(FromRow)]
struct PostRow {
    post_id: i64,
}

/// Writes reports of the partner feed.
pub(super) struct PartnerPosts {
    pub(super) places: Arc<PlacesCache>,
}

/// Publishes posts with tags found in these places. Returns those that were new, or `None` if the places have changed.
async fn receive(
    link: &mut Link,
    places: &Versioned<Arc<Places>>,
    posts: &[PartnerReport],
) -> Result<Option<HashSet<i64>>, StoreError> {
    let tags: Vec<_> =
        posts.iter().map(|post| places.value.locator().locate(post.content.location)).collect();
    let reports = posts.iter().zip(&tags).map(|(post, tags)| NewReport { content: &post.content, tags });
    let rows: Vec<AtRevision<PostRow>> = sqlx::query_as_with(RECEIVE, arguments(reports)?)
        .bind(posts.iter().map(|post| post.post_id).collect::<Vec<_>>())
        .bind(column(places.revision.0))
        .fetch_all(&mut **link)
        .await?;
    let Versioned { revision, value: made, .. } = versioned(rows, |row| Ok(row.post_id))?;
    Ok((revision == places.revision).then(|| made.into_iter().collect()))
}

#[async_trait]
impl Write for PartnerPosts {
    type Job = PartnerReport;
    type Done = Received;
    type Thing = i64;
    const NAME: &str = "partner_posts";

    fn thing(post: &PartnerReport) -> i64 {
        post.post_id
    }

    async fn write(&self, link: &mut Link, posts: &[PartnerReport]) -> Result<Answers<Self>, StoreError> {
        let mut places = match self.places.cached() {
            Some(places) => places,
            None => self.places.load_by(link).await?,
        };
        let made = loop {
            match receive(link, &places, posts).await? {
                Some(made) => break made,
                None => places = self.places.load_by(link).await?,
            }
        };
        let answer = |post: &PartnerReport| {
            if made.contains(&post.post_id) { Received::Created } else { Received::Existing }
        };
        Ok(posts.iter().map(|post| Ok(answer(post))).collect())
    }
}

#[async_trait]
impl FeedStore for PostgresStore {
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<Received, StoreError> {
        self.connections.within(self.partner_posts.submit(report)).await
    }
}
