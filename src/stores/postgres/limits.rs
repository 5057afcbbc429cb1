//! Limits of requests to areas: the names of areas and reports that a limit compares.

use sqlx::FromRow;

use super::PostgresStore;
use super::statement::Query;
use super::values::{column, number};
use crate::model::{AreaLimit, HideWaiting, Moderation, PlaceNames};
use crate::stores::StoreError;

macro_rules! report_names {
    ($which:literal) => {
        concat!(
            "SELECT pkey, local_area_id, reports.instance_region_code,
                    coalesce(reports.city,
                             CASE WHEN NOT EXISTS (SELECT FROM cities WHERE code = areas.city) THEN areas.city END) AS city,
                    city_name, parent_name
             FROM reports LEFT JOIN areas ON areas.area_id = local_area_id
             WHERE ",
            $which
        )
    };
}

const BY_KEY: &str = report_names!("pkey = $1");
const WAITING: &str = report_names!("waiting AND sender = $1 ORDER BY pkey");

#[derive(FromRow)]
pub(super) struct NamesRow {
    instance_region_code: Option<String>,
    city: Option<String>,
    city_name: Option<String>,
    parent_name: Option<String>,
}

impl NamesRow {
    pub(super) fn names(&self) -> PlaceNames<'_> {
        PlaceNames {
            province: self.instance_region_code.as_deref(),
            city: self.city.as_deref(),
            city_name: self.city_name.as_deref(),
            parent: self.parent_name.as_deref(),
        }
    }
}

#[derive(FromRow)]
struct ReportNamesRow {
    pkey: i64,
    local_area_id: Option<i64>,
    #[sqlx(flatten)]
    names: NamesRow,
}

impl PostgresStore {
    /// Fails if the report is outside of the limit, or if there is none. The request may write afterwards in another transaction: a
    /// report never changes its place, and an import that moves it into another area counts as later than the request.
    pub(super) async fn check_limit(&self, request: &Moderation) -> Result<(), StoreError> {
        if request.limit.is_everywhere() {
            return Ok(());
        }
        let query: Query<ReportNamesRow> = sqlx::query_as(BY_KEY).bind(column(request.report.number()));
        let rows = self.connections.read(query).await?;
        let row = rows.first().ok_or_else(|| StoreError::no_report(request.report))?;
        if request.limit.contains(&row.names.names()) {
            return Ok(());
        }
        let area = row.local_area_id.map(number).transpose()?;
        Err(StoreError::OutsideLimit { areas: Vec::from_iter(area) })
    }

    /// Returns the sender's waiting reports inside the limit, and the number of the others; `None` without a limit.
    pub(super) async fn waiting_inside(
        &self,
        request: &HideWaiting,
    ) -> Result<Option<(Vec<i64>, u64)>, StoreError> {
        let AreaLimit::Within(_) = &request.limit else { return Ok(None) };
        let query: Query<ReportNamesRow> = sqlx::query_as(WAITING).bind(request.sender.to_string());
        let rows = self.connections.read(query).await?;
        let inside = rows.iter().filter(|row| request.limit.contains(&row.names.names()));
        let inside: Vec<_> = inside.map(|row| row.pkey).collect();
        let left = (rows.len() - inside.len()) as u64;
        Ok(Some((inside, left)))
    }
}
