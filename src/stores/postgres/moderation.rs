//! Every operation is one statement, except erasing, which first reads the reports to compute their digests, and operations with a limit,
//! which first read the areas of the reports.

use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::PostgresStore;
use super::error::backend;
use super::reports::ReportRow;
use super::revision::versioned;
use super::rows::report;
use super::statement::Query;
use super::values::{column, moment};
use crate::model::{
    HiddenReports, HideWaiting, Moderation, ModerationAction, ModerationEntry, PhotoMove, PhotoPlace, Report,
    ReportDigest, ReportKey, Timestamp, WaitingReports, photo_name,
};
use crate::stores::{ModerationQuery, ModerationStore, StoreError, Versioned, WaitingQuery};

const MAX_LOGGED: usize = 10;

/// The SQL condition that a text is the file name of a photo of this service.
macro_rules! is_photo {
    ($text:literal) => {
        concat!($text, r#" ~ '^[A-Za-z0-9_=-]+[.]jpg$' COLLATE "C""#)
    };
}
pub(super) use is_photo;

/// Hides or shows a report, if it was made at the expected time. Afterwards the report no longer waits for review.
const SET_HIDDEN: &str = concat!(
    "
    WITH changed AS (
        UPDATE reports SET hidden = $2, waiting = false, sender = NULL
        WHERE pkey = $1 AND (hidden <> $2 OR waiting) AND ($3::timestamptz IS NULL OR created_at = $3)
        RETURNING pkey, created_at, image_url
    ), numbered AS (
        UPDATE moderation_count SET number = number + 1 WHERE EXISTS (SELECT FROM changed) RETURNING number
    ), moved AS (
        INSERT INTO photo_moves (photo, target, due_at)
        SELECT image_url, $4, $5 FROM changed WHERE ",
    is_photo!("image_url"),
    "
        ON CONFLICT (photo) DO UPDATE SET target = excluded.target
    ), logged AS (
        INSERT INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
        SELECT number, $5, pkey, created_at, $6, $7, $8, $9 FROM changed, numbered
    )
    SELECT created_at, EXISTS (SELECT FROM changed) FROM reports WHERE pkey = $1"
);

/// Erases reports with their cards. Adds entries to the moderation log only if there is a subject.
const ERASE: &str = concat!(
    "
    WITH orders AS (
        SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS orders (pkey, digest, card_photo)
    ), gone AS (
        DELETE FROM reports USING orders WHERE reports.pkey = orders.pkey
        RETURNING reports.*, orders.digest, orders.card_photo
    ), no_images AS (
        DELETE FROM images USING gone WHERE images.card_id = gone.card_id
    ), no_cards AS (
        DELETE FROM cards USING gone WHERE cards.card_id = gone.card_id
    ), kept AS (
        INSERT INTO erased_reports (pkey, created_at, source, disaster_type, is_training, instance_region_code, city,
                                    post_id, hidden, digest)
        SELECT pkey, created_at, source, disaster_type, is_training, gone.instance_region_code,
               coalesce(gone.city, CASE WHEN NOT EXISTS (SELECT FROM cities WHERE code = areas.city) THEN areas.city END),
               post_id, hidden, digest
        FROM gone LEFT JOIN areas ON areas.area_id = gone.local_area_id
    ), moved AS (
        INSERT INTO photo_moves (photo, target, due_at)
        SELECT DISTINCT photo, 'gone', $4::timestamptz
        FROM (SELECT CASE WHEN ",
    is_photo!("image_url"),
    " THEN image_url ELSE card_photo END AS photo FROM gone) AS photos
        WHERE photo IS NOT NULL
        ON CONFLICT (photo) DO UPDATE SET target = excluded.target
    ), numbered AS (
        UPDATE moderation_count SET number = number + 1
        WHERE $5::text IS NOT NULL AND EXISTS (SELECT FROM gone) RETURNING number
    ), logged AS (
        INSERT INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
        SELECT number, $4, pkey, created_at, 'erase', $5, $6, $7 FROM gone, numbered
    )
    SELECT count(*) FROM gone"
);

const BY_KEYS: &str =
    concat!("SELECT ", report!(), ", reports.card_id FROM reports WHERE pkey = ANY ($1) ORDER BY pkey");

const OLDEST: &str = concat!(
    "SELECT ",
    report!(),
    ", reports.card_id FROM reports
      WHERE reports.created_at < $1 AND ($3::timestamptz IS NULL OR (reports.created_at, pkey) > ($3, $4))
      ORDER BY reports.created_at, pkey LIMIT $2"
);

const IS_ERASED: &str = "SELECT true FROM erased_reports WHERE pkey = $1";

const LOG: &str = "
    SELECT now.revision, asked.* FROM current_revisions now LEFT JOIN (
        SELECT number, at, report, made_at, action, subject, username, reason FROM moderation_log
        WHERE number > $1 AND ($2::bigint IS NULL OR number < $2) ORDER BY number DESC LIMIT $3
    ) asked ON true WHERE now.resource = 'reports' ORDER BY number DESC";

/// Takes the next due photo, and skips those that another session is taking.
const TAKE: &str = "
    UPDATE photo_moves SET due_at = $2
    WHERE photo = (
        SELECT photo FROM photo_moves WHERE due_at <= $1
        ORDER BY target = 'gone', due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING photo, target";

/// Takes the photo of one report. The target is null if another session has taken the photo.
const TAKE_BY_REPORT: &str = "
    WITH taken AS (
        UPDATE photo_moves SET due_at = $3
        WHERE photo = (SELECT image_url FROM reports WHERE pkey = $1) AND due_at <= $2
        RETURNING photo, target
    )
    SELECT photo_moves.photo, taken.target
    FROM reports JOIN photo_moves ON photo_moves.photo = reports.image_url LEFT JOIN taken USING (photo)
    WHERE reports.pkey = $1";

const END: &str = "
    WITH ended AS (DELETE FROM photo_moves WHERE photo = $1 AND target = $2)
    UPDATE photo_moves SET due_at = $3 WHERE photo = $1 AND target <> $2 RETURNING true";

#[derive(FromRow)]
struct StoredRow {
    #[sqlx(flatten)]
    report: ReportRow,
    card_id: Option<String>,
}

struct Erasure {
    key: ReportKey,
    made_at: Timestamp,
    digest: ReportDigest,
    photo: Option<String>,
}

impl TryFrom<StoredRow> for Erasure {
    type Error = StoreError;

    fn try_from(StoredRow { report, card_id }: StoredRow) -> Result<Self, StoreError> {
        let Report { key, content, .. } = report.report?;
        let card = card_id.map(|card| card.parse().map_err(backend)).transpose()?;
        let (made_at, digest) = (content.created_at, ReportDigest::new(&content));
        Ok(Self { key, made_at, digest, photo: card.as_ref().map(photo_name) })
    }
}

#[derive(Default)]
struct UnreadableReports {
    count: u64,
    keys: Vec<i64>,
    error: Option<StoreError>,
}

impl UnreadableReports {
    fn add(&mut self, key: i64, error: StoreError) {
        self.count += 1;
        if self.keys.len() < MAX_LOGGED {
            self.keys.push(key);
        }
        self.error.get_or_insert(error);
    }
}

impl PostgresStore {
    /// Hides or shows a report. Returns `false` if the report was already hidden or shown.
    async fn set_hidden(&self, request: &Moderation) -> Result<bool, StoreError> {
        let is_hidden = request.action == ModerationAction::Hide;
        let query: Query<(DateTime<Utc>, bool)> = sqlx::query_as(SET_HIDDEN)
            .bind(column(request.report.number()))
            .bind(is_hidden)
            .bind(request.made_at.map(moment))
            .bind(PhotoPlace::after(request.action).name())
            .bind(moment(self.clock.now()))
            .bind(request.action.name())
            .bind(request.by.subject.clone())
            .bind(request.by.username.clone())
            .bind(request.reason.clone());
        let rows = self.connections.write(query).await?;
        let &(made_at, changed) = rows.first().ok_or_else(|| StoreError::no_report(request.report))?;
        check_made_at(request, made_at.into())?;
        Ok(changed)
    }

    /// Erases a report. Returns `false` if it was erased earlier.
    async fn erase(&self, request: &Moderation) -> Result<bool, StoreError> {
        let key = column(request.report.number());
        let stored: Vec<StoredRow> = self.connections.read(sqlx::query_as(BY_KEYS).bind(vec![key])).await?;
        let stored: Vec<_> = stored.into_iter().map(Erasure::try_from).collect::<Result<_, _>>()?;
        let Some(report) = stored.first() else {
            let query: Query<(bool,)> = sqlx::query_as(IS_ERASED).bind(key);
            let is_erased = !self.connections.read(query).await?.is_empty();
            return is_erased.then_some(false).ok_or_else(|| StoreError::no_report(request.report));
        };
        check_made_at(request, report.made_at)?;
        Ok(self.erase_stored(stored, Some(request)).await? > 0)
    }

    /// Erases stored reports: on request, or without a request because of their age. Returns their number.
    async fn erase_stored(
        &self,
        stored: Vec<Erasure>,
        request: Option<&Moderation>,
    ) -> Result<u64, StoreError> {
        let (mut keys, mut digests, mut photos) = (Vec::new(), Vec::new(), Vec::new());
        for Erasure { key, digest, photo, .. } in stored {
            keys.push(column(key.number()));
            digests.push(digest.as_bytes().to_vec());
            photos.push(photo);
        }
        let query: Query<(i64,)> = sqlx::query_as(ERASE)
            .bind(keys)
            .bind(digests)
            .bind(photos)
            .bind(moment(self.clock.now()))
            .bind(request.map(|request| request.by.subject.clone()))
            .bind(request.and_then(|request| request.by.username.clone()))
            .bind(request.map(|request| request.reason.clone()));
        super::values::count(self.connections.write(query).await?)
    }

    /// Logs the reports that cannot be erased because they cannot be decoded. Logs the same keys only once in succession.
    fn log_unreadable(&self, UnreadableReports { count, keys, error }: UnreadableReports) {
        let mut logged = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error.filter(|_| *logged != keys) {
            let error = &error as &dyn std::error::Error;
            tracing::error!(reports = ?keys, count, error, "old reports cannot be read and are not erased");
        }
        *logged = keys;
    }
}

/// Fails if the report was made at another time than the request expects.
fn check_made_at(request: &Moderation, made_at: Timestamp) -> Result<(), StoreError> {
    let differs = request.made_at.is_some_and(|expected| expected != made_at);
    if differs { Err(StoreError::report_mismatch(request.report, made_at)) } else { Ok(()) }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ModerationStore for PostgresStore {
    async fn moderate(&self, request: &Moderation) -> Result<bool, StoreError> {
        self.check_limit(request).await?;
        match request.action {
            ModerationAction::Hide | ModerationAction::Show => self.set_hidden(request).await,
            ModerationAction::Erase => self.erase(request).await,
        }
    }

    async fn moderation_log(
        &self,
        query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        let statement = sqlx::query_as(LOG)
            .bind(column(query.after))
            .bind(query.before.map(column))
            .bind(i64::from(query.most));
        let rows = self.connections.read(statement).await?;
        versioned(rows, Ok)
    }

    async fn waiting_reports(&self, query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        self.read_waiting(query).await
    }

    async fn hide_waiting(&self, request: &HideWaiting) -> Result<HiddenReports, StoreError> {
        self.hide_waiting_of_sender(request).await
    }

    async fn forget_senders(&self, until: Timestamp) -> Result<(), StoreError> {
        self.forget_senders_until(until).await
    }

    async fn erase_reports(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        let (mut erasures, mut unreadable) = (Vec::new(), UnreadableReports::default());
        let mut last: Option<(DateTime<Utc>, i64)> = None;
        // Skip reports that cannot be decoded: they must not prevent the erasure of later ones.
        while erasures.len() < most as usize {
            let (made_at, key) = last.unzip();
            let query = sqlx::query_as(OLDEST).bind(moment(before)).bind(i64::from(most));
            let oldest: Vec<StoredRow> = self.connections.read(query.bind(made_at).bind(key)).await?;
            let is_end = oldest.len() < most as usize;
            for row in oldest {
                let ReportRow { created_at, pkey, .. } = row.report;
                last = Some((created_at, pkey));
                match Erasure::try_from(row) {
                    Ok(report) => erasures.push(report),
                    Err(error) => unreadable.add(pkey, error),
                }
            }
            if is_end {
                break;
            }
        }
        erasures.truncate(most as usize);
        self.log_unreadable(unreadable);
        if erasures.is_empty() { Ok(0) } else { self.erase_stored(erasures, None).await }
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        let now = self.clock.now();
        let query: Query<(String, String)> =
            sqlx::query_as(TAKE).bind(moment(now)).bind(moment(now.saturating_add(lease)));
        let photo_move = self.connections.write_untracked(query).await?.pop();
        let photo_move = photo_move.map(|(photo, target)| {
            Ok(PhotoMove { photo: photo.into(), to: target.parse().map_err(backend)? })
        });
        photo_move.transpose()
    }

    async fn take_photo_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        let now = self.clock.now();
        let query: Query<(String, Option<String>)> = sqlx::query_as(TAKE_BY_REPORT)
            .bind(column(report.number()))
            .bind(moment(now))
            .bind(moment(now.saturating_add(lease)));
        let Some((photo, target)) = self.connections.write_untracked(query).await?.pop() else {
            return Ok(None);
        };
        let target = target.ok_or_else(|| StoreError::photo_is_taken(report))?;
        Ok(Some(PhotoMove { photo: photo.into(), to: target.parse().map_err(backend)? }))
    }

    async fn end_photo_move(&self, done: &PhotoMove) -> Result<(), StoreError> {
        let query: Query<(bool,)> = sqlx::query_as(END)
            .bind(done.photo.to_string())
            .bind(done.to.name())
            .bind(moment(self.clock.now()));
        self.connections.write_untracked(query).await.map(drop)
    }
}
