use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::Mutex;

use crate::model::{AreaId, AreaSelector, DisasterType, Timestamp, flood_depth};
use crate::stores::{ReportQuery, Resource, Revision, Store, StoreError, Window};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FloodReport {
    pub(crate) at: Timestamp,
    /// The depth in centimetres.
    pub(crate) depth: Option<f64>,
}

type ByArea = HashMap<AreaId, Vec<FloodReport>>;

/// Caches the published flood reports of the last hours by area, oldest first. Reads them again whenever a report is added,
/// hidden or restored, so pages never show hidden reports.
#[derive(Debug, Default)]
pub(crate) struct FloodReports(Mutex<Option<(CacheKey, Arc<ByArea>)>>);

/// The revision of reports, and the minute: a report that is dated in the future appears later, at the same revision.
type CacheKey = (Revision, Timestamp);

impl FloodReports {
    /// Returns the reports that were made in an area after its last change, and at most `within` before `now`.
    pub(crate) async fn find(
        &self,
        store: &dyn Store,
        area: AreaId,
        changed: Option<Timestamp>,
        now: Timestamp,
        within: Duration,
    ) -> Result<Vec<FloodReport>, StoreError> {
        let key = (store.revision(Resource::Reports).await?, now.floor(Duration::from_mins(1)));
        let mut cached = self.0.lock().await;
        let by_area = match &*cached {
            Some((cached_key, by_area)) if *cached_key == key => Arc::clone(by_area),
            _ => {
                let by_area = Arc::new(read(store, within).await?);
                *cached = Some((key, Arc::clone(&by_area)));
                by_area
            }
        };
        drop(cached);
        let from =
            changed.map_or(now.saturating_sub(within), |changed| changed.max(now.saturating_sub(within)));
        let in_area = by_area.get(&area).map(Vec::as_slice).unwrap_or_default();
        Ok(in_area.iter().filter(|report| report.at >= from && report.at <= now).copied().collect())
    }
}

/// Returns the reports of each area, oldest first. Reports outside all areas are left out.
async fn read(store: &dyn Store, within: Duration) -> Result<ByArea, StoreError> {
    let query = ReportQuery {
        selector: AreaSelector::default(),
        disaster: Some(DisasterType::Flood),
        training: false,
        window: Window::Last(within),
    };
    let mut by_area = ByArea::new();
    // The store returns the newest reports first.
    for report in store.reports(&query).await?.value.reports.iter().rev() {
        if let Some(area) = report.tags.local_area_id {
            let report_entry = FloodReport { at: report.content.created_at, depth: flood_depth(report) };
            by_area.entry(area).or_default().push(report_entry);
        }
    }
    Ok(by_area)
}
