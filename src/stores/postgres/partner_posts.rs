use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::value::RawValue;
use sqlx::FromRow;

use super::PostgresStore;
use super::batch::{Answers, Write};
use super::link::Link;
use super::places::PlacesCache;
use super::revision::{AtRevision, versioned};
use super::values::{column, moment};
use crate::model::Places;
use crate::model::intake::PartnerReport;
use crate::stores::{FeedStore, Received, StoreError, Versioned};

/// Publishes the posts that have not come before, unless the places have changed since the posts' tags were found.
const RECEIVE: &str = "
    WITH places AS (
        SELECT revision FROM current_revisions WHERE resource = 'places'
    ), made AS (
        INSERT INTO reports (post_id, created_at, source, url, image_url, disaster_type, report_data, title, text,
                             location, instance_region_code, local_area_id, is_training, partner_code, partner_icon,
                             city)
        SELECT post_id, created_at, source, url, image_url, disaster_type, report_data::json, title, text,
               ST_SetSRID(ST_MakePoint(lng, lat), 4326), instance_region_code, local_area_id, is_training,
               partner_code, partner_icon, city
        FROM places, unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                            $8::text[], $9::text[], $10::text[], $11::float8[], $12::float8[], $13::text[],
                            $14::bigint[], $15::boolean[], $16::text[], $17::text[], $18::text[])
            AS posts (post_id, created_at, source, url, image_url, disaster_type, report_data, title, text, lng, lat,
                      instance_region_code, local_area_id, is_training, partner_code, partner_icon, city)
        -- A subquery for each post, however many reports the planner expects.
        WHERE revision = $1 AND (SELECT true FROM reports WHERE reports.post_id = posts.post_id) IS NULL
          AND (SELECT true FROM erased_reports erased WHERE erased.post_id = posts.post_id) IS NULL
        -- In one order everywhere, so that two statements never wait for each other.
        ORDER BY post_id
        ON CONFLICT (post_id) WHERE post_id IS NOT NULL DO NOTHING
        RETURNING post_id
    )
    SELECT places.revision, made.post_id FROM places LEFT JOIN made ON true";

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
    fn each<'a, T>(posts: &'a [PartnerReport], of: impl Fn(&'a PartnerReport) -> T) -> Vec<T> {
        posts.iter().map(of).collect()
    }
    let rows: Vec<AtRevision<PostRow>> = sqlx::query_as(RECEIVE)
        .bind(column(places.revision.0))
        .bind(each(posts, |post| post.post_id))
        .bind(each(posts, |post| moment(post.content.created_at)))
        .bind(each(posts, |post| &*post.content.source))
        .bind(each(posts, |post| post.content.url.as_deref()))
        .bind(each(posts, |post| post.content.image_url.as_deref()))
        .bind(each(posts, |post| post.content.disaster_type.name()))
        .bind(each(posts, |post| post.content.report_data.as_deref().map(RawValue::get)))
        .bind(each(posts, |post| &*post.content.title))
        .bind(each(posts, |post| &*post.content.text))
        .bind(each(posts, |post| post.content.location.coord().x))
        .bind(each(posts, |post| post.content.location.coord().y))
        .bind(tags.iter().map(|tags| tags.instance_region_code.as_deref()).collect::<Vec<_>>())
        .bind(
            tags.iter().map(|tags| tags.local_area_id.map(|area| column(area.number()))).collect::<Vec<_>>(),
        )
        .bind(each(posts, |post| post.content.is_training))
        .bind(each(posts, |post| post.content.partner_code.as_deref()))
        .bind(each(posts, |post| post.content.partner_icon.as_deref()))
        .bind(tags.iter().map(|tags| tags.city.as_deref()).collect::<Vec<_>>())
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
