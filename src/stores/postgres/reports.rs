use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use super::PostgresStore;
use super::error::backend;
use super::revision::{AtRevision, WithNext, split_next, versioned};
use super::rows::report;
use super::statement::{Query, Row};
use super::values::{column, count, limit, moment};
use crate::model::{DisasterType, Report, ReportKey, ReportLayer, SeriesPoint, Timestamp};
use crate::stores::{ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary, StoreError, Versioned};

/// Filters reports by time, disaster, city or province, and training. Without a disaster, excludes preparedness (`prep`).
macro_rules! filtered {
    ($from:literal) => {
        concat!(" FROM ", $from, " AS reports LEFT JOIN areas ON areas.area_id = reports.local_area_id
          WHERE reports.created_at >= $1 AND reports.created_at <= $2
            AND (disaster_type = $3 OR ($3::text IS NULL AND disaster_type <> 'prep'))
            AND ($4::text IS NULL OR reports.city = $4 OR reports.instance_region_code = $4
                 OR areas.city = $4 AND reports.city IS NULL AND NOT EXISTS (SELECT FROM cities WHERE code = $4))
            AND ($5::text IS NULL OR reports.instance_region_code = $5)
            AND ($6 OR NOT is_training) ")
    };
}

/// Adds two columns to a query: the revision, and the time of the first report of any kind after the window.
macro_rules! versioned_query {
    ($columns:expr, $from:literal, $group_by:expr, $order_by:expr) => {
        concat!(
            "SELECT now.revision, asked.*, least(
                (SELECT min(created_at) FROM visible_reports WHERE created_at > $2),
                (SELECT min(created_at) FROM erased_reports WHERE created_at > $2 AND NOT hidden)) AS next
             FROM current_revisions now LEFT JOIN (
                SELECT ",
            $columns,
            filtered!($from),
            $group_by,
            ") asked ON true WHERE now.resource = 'reports' ",
            $order_by
        )
    };
}

pub(super) const LIST: &str =
    versioned_query!(report!(), "visible_reports", "", "ORDER BY created_at DESC, pkey DESC");
const HOURLY: &str = versioned_query!(
    "date_bin('1 hour', created_at, 'epoch') AS hour, count(*) AS reports",
    "counted_reports",
    "GROUP BY hour",
    "ORDER BY hour"
);
const SUMMARY: &str = versioned_query!(
    "source, disaster_type, count(*) AS reports, min(created_at) AS oldest",
    "counted_reports",
    "GROUP BY source, disaster_type",
    ""
);

const COUNT: &str = concat!(
    "SELECT count(*) FROM (SELECT",
    filtered!("visible_reports"),
    "ORDER BY reports.created_at LIMIT $7) AS counted"
);

pub(super) const BY_KEY: &str = concat!(
    "SELECT now.revision, found.* FROM current_revisions now LEFT JOIN (SELECT ",
    report!(),
    " FROM visible_reports AS reports WHERE pkey = $1) found ON true WHERE now.resource = 'reports'"
);

const FROM: &str =
    concat!("SELECT ", report!(), " FROM visible_reports AS reports WHERE pkey >= $1 ORDER BY pkey LIMIT $2");

const LAST: &str =
    concat!("SELECT ", report!(), " FROM visible_reports AS reports ORDER BY pkey DESC LIMIT 1");

pub(super) const ALL: &str = concat!("SELECT ", report!(), " FROM reports WHERE hidden = $1 ORDER BY pkey");

/// A report, or the error if it cannot be decoded. The sort keys are available in both cases.
pub(super) struct ReportRow {
    pub(super) created_at: DateTime<Utc>,
    pub(super) pkey: i64,
    pub(super) report: Result<Report, StoreError>,
}

impl<'r> FromRow<'r, PgRow> for ReportRow {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let report = Report::from_row(row).map_err(StoreError::from);
        Ok(Self { created_at: row.try_get("created_at")?, pkey: row.try_get("pkey")?, report })
    }
}

/// A report that is decoded from its row directly into an `Arc`, so that a long list is not in memory twice.
struct SharedReport(Arc<Report>);

impl<'r> FromRow<'r, PgRow> for SharedReport {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        Report::from_row(row).map(|report| Self(Arc::new(report)))
    }
}

#[derive(FromRow)]
struct HourRow {
    hour: DateTime<Utc>,
    reports: i64,
}

#[derive(FromRow)]
struct SumRow {
    source: String,
    disaster_type: String,
    reports: i64,
    oldest: DateTime<Utc>,
}

impl PostgresStore {
    /// Returns the rows, and the time of the first report after the window.
    async fn fetch_window<T>(
        &self,
        sql: &'static str,
        query: &ReportQuery,
        now: Timestamp,
    ) -> Result<(Vec<AtRevision<T>>, Option<Timestamp>), StoreError>
    where
        WithNext<T>: Row,
    {
        Ok(split_next(self.connections.read(window_query(sql, query, now)).await?))
    }
}

/// Binds the window and the filters of the query to the parameters 1 to 6.
fn window_query<T: Row>(sql: &'static str, query: &ReportQuery, now: Timestamp) -> Query<T> {
    let (first, last) = query.window.bounds(now);
    sqlx::query_as(sql)
        .bind(moment(first))
        .bind(moment(last))
        .bind(query.disaster.map(|disaster| disaster.to_string()))
        .bind(query.selector.city.clone())
        .bind(query.selector.region.clone())
        .bind(query.training)
}

#[async_trait]
impl ReportStore for PostgresStore {
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        let now = self.clock.now();
        let (rows, next) = self.fetch_window(LIST, query, now).await?;
        let reports = versioned(rows, |SharedReport(report)| Ok(report))?;
        let oldest = reports.value.last().map(|report| report.content.created_at);
        Ok(reports.map(ReportLayer::from).within(query.window.validity(now, oldest, next)))
    }

    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        let now = self.clock.now();
        count(self.connections.read(window_query(COUNT, query, now).bind(limit(most))).await?)
    }

    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError> {
        let rows = self.connections.read(sqlx::query_as(BY_KEY).bind(column(key.number()))).await?;
        let Versioned { revision, value, .. } = versioned(rows, |SharedReport(report)| Ok(report))?;
        match value.into_iter().next() {
            Some(report) => Ok(Versioned::new(revision, report)),
            None => Err(StoreError::no_report(key)),
        }
    }

    async fn reports_from(
        &self,
        first: Option<ReportKey>,
        most: u32,
    ) -> Result<Vec<Arc<Report>>, StoreError> {
        let query = match first {
            Some(first) => sqlx::query_as(FROM).bind(column(first.number())).bind(i64::from(most)),
            None => sqlx::query_as(LAST),
        };
        let reports: Vec<SharedReport> = self.connections.read(query).await?;
        Ok(reports.into_iter().map(|SharedReport(report)| report).collect())
    }

    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let (now, reports) = (self.clock.now(), query.reports());
        let (rows, next) = self.fetch_window(HOURLY, &reports, now).await?;
        let counts = versioned(rows, |row: HourRow| Ok((row.hour, row.reports)))?;
        let mut counted = counts.value.into_iter().peekable();
        let points = query.period.hours().map(|ts| {
            let count = counted.next_if(|&(hour, _)| hour == moment(ts)).map_or(0, |(_, count)| count);
            SeriesPoint { ts, count: count.cast_unsigned() }
        });
        Ok(Versioned::new(counts.revision, points.collect()).within(reports.window.validity(now, None, next)))
    }

    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        let now = self.clock.now();
        let (rows, next) = self.fetch_window(SUMMARY, query, now).await?;
        let sums = versioned(rows, |row: SumRow| {
            let disaster: DisasterType = row.disaster_type.parse().map_err(backend)?;
            Ok((row.source, disaster, row.reports.cast_unsigned(), row.oldest))
        })?;
        let mut summary = ReportSummary::default();
        let oldest = sums.value.iter().map(|&(.., oldest)| oldest).min().map(Timestamp::from);
        for (source, disaster, reports, _) in sums.value {
            *summary.by_source.entry(source).or_default() += reports;
            *summary.by_disaster.entry(disaster).or_default() += reports;
        }
        Ok(Versioned::new(sums.revision, summary).within(query.window.validity(now, oldest, next)))
    }
}
