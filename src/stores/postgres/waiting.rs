//! Reports that wait for review, and their senders.

use std::sync::Arc;

use sqlx::FromRow;

use super::PostgresStore;
use super::error::backend;
use super::reports::ReportRow;
use super::rows::report;
use super::statement::Query;
use super::values::{moment, number};
use crate::model::{HiddenReports, HideWaiting, Timestamp, WaitingOrigin, WaitingReport, WaitingReports};
use crate::stores::{StoreError, WaitingQuery};

const WAITING: &str = concat!(
    "
    WITH waiting AS (
        SELECT pkey, row_number() OVER of_sender AS place,
               count(*) OVER (PARTITION BY coalesce(sender, pkey::text)) AS of_sender, count(*) OVER () AS total
        FROM reports WHERE waiting
        WINDOW of_sender AS (PARTITION BY coalesce(sender, pkey::text) ORDER BY is_suspect, pkey DESC)
    )
    SELECT ",
    report!(),
    ", reports.sender, reports.is_suspect, waiting.of_sender, waiting.total
    FROM waiting JOIN reports USING (pkey) WHERE place <= $2
    ORDER BY is_suspect, pkey DESC LIMIT $1"
);

const HIDE_WAITING: &str = "
    WITH changed AS (
        UPDATE reports SET waiting = false, sender = NULL WHERE waiting AND sender = $1 AND ($6::bigint[] IS NULL OR pkey = ANY ($6))
        RETURNING pkey, created_at
    ), ordered AS (
        SELECT pkey, created_at, row_number() OVER (ORDER BY pkey) AS place FROM changed
    ), numbered AS (
        UPDATE moderation_count SET number = number + (SELECT count(*) FROM changed)
        WHERE EXISTS (SELECT FROM changed) RETURNING number
    ), logged AS (
        INSERT INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
        SELECT number - (SELECT count(*) FROM changed) + place, $2, pkey, created_at, 'hide', $3, $4, $5
        FROM ordered, numbered
    )
    SELECT pkey FROM ordered ORDER BY pkey";

const FORGET_SENDERS: &str = "
    UPDATE reports SET sender = NULL WHERE waiting AND sender IS NOT NULL AND waiting_since <= $1";

#[derive(FromRow)]
struct WaitingRow {
    #[sqlx(flatten)]
    report: ReportRow,
    sender: Option<String>,
    is_suspect: bool,
    of_sender: i64,
    total: i64,
}

impl TryFrom<WaitingRow> for WaitingReport {
    type Error = StoreError;

    fn try_from(row: WaitingRow) -> Result<Self, StoreError> {
        let sender = row.sender.map(|sender| sender.parse()).transpose().map_err(backend)?;
        let origin = WaitingOrigin { sender, is_suspect: row.is_suspect };
        let of_sender = row.of_sender.cast_unsigned();
        Ok(Self { report: Arc::new(row.report.report?), origin, sender_total: of_sender })
    }
}

impl PostgresStore {
    pub(super) async fn read_waiting(&self, query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        let statement = sqlx::query_as(WAITING).bind(i64::from(query.most)).bind(i64::from(query.per_sender));
        let rows: Vec<WaitingRow> = self.connections.read(statement).await?;
        let total = rows.first().map_or(0, |row| row.total.cast_unsigned());
        let reports = rows.into_iter().map(WaitingReport::try_from).collect::<Result<_, _>>()?;
        Ok(WaitingReports { total, reports })
    }

    pub(super) async fn hide_waiting_of_sender(
        &self,
        request: &HideWaiting,
    ) -> Result<HiddenReports, StoreError> {
        let (inside, left) = self.waiting_inside(request).await?.unzip();
        let query: Query<(i64,)> = sqlx::query_as(HIDE_WAITING)
            .bind(request.sender.to_string())
            .bind(moment(self.clock.now()))
            .bind(request.by.subject.clone())
            .bind(request.by.username.clone())
            .bind(request.reason.clone())
            .bind(inside);
        let hidden = self.connections.write(query).await?;
        let hidden = hidden.into_iter().map(|(key,)| number(key)).collect::<Result<_, _>>()?;
        Ok(HiddenReports { hidden, left: left.unwrap_or_default() })
    }

    pub(super) async fn forget_senders_until(&self, until: Timestamp) -> Result<(), StoreError> {
        let query: Query<(bool,)> = sqlx::query_as(FORGET_SENDERS).bind(moment(until));
        self.connections.write_untracked(query).await.map(drop)
    }
}
