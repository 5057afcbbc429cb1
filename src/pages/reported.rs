use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::Mutex;

use crate::model::{AreaId, AreaSelector, DisasterType, Timestamp, flood_depth};
use crate::stores::{ReportQuery, Resource, Revision, Store, StoreError, Window};

/// A report of a flood, as the page about its area counts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reported {
    pub(crate) at: Timestamp,
    /// The depth of the water in centimetres, if the report gives one.
    pub(crate) depth: Option<f64>,
}

type ByArea = HashMap<AreaId, Vec<Reported>>;

/// The published reports of floods of the last hours by area, each area's oldest first. They are read again whenever a report was
/// added, hidden or shown, so a page that is made from them never names one that was hidden.
#[derive(Debug, Default)]
pub(crate) struct FloodReports(Mutex<Option<(Key, Arc<ByArea>)>>);

/// The reports stay the same while this does: the revision, and the minute, as one may be dated in the future.
type Key = (Revision, Timestamp);

impl FloodReports {
    /// Returns the reports from an area that were made in the time `within` before `now`, and not before the area's newest change.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) async fn find(
        &self,
        store: &dyn Store,
        area: AreaId,
        changed: Option<Timestamp>,
        now: Timestamp,
        within: Duration,
    ) -> Result<Vec<Reported>, StoreError> {
        let key = (store.revision(Resource::Reports).await?, now.floor(Duration::from_mins(1)));
        let mut known = self.0.lock().await;
        let by_area = match &*known {
            Some((of, by_area)) if *of == key => Arc::clone(by_area),
            _ => {
                let by_area = Arc::new(read(store, within).await?);
                *known = Some((key, Arc::clone(&by_area)));
                by_area
            }
        };
        drop(known);
        let from = changed.map_or(now.before(within), |changed| changed.max(now.before(within)));
        let all = by_area.get(&area).map(Vec::as_slice).unwrap_or_default();
        Ok(all.iter().filter(|of| of.at >= from && of.at <= now).copied().collect())
    }
}

async fn read(store: &dyn Store, within: Duration) -> Result<ByArea, StoreError> {
    let query = ReportQuery {
        selector: AreaSelector::default(),
        disaster: Some(DisasterType::Flood),
        training: false,
        window: Window::Last(within),
    };
    let mut by_area = ByArea::new();
    // The newest comes first.
    for report in store.reports(&query).await?.value.reports.iter().rev() {
        if let Some(area) = report.tags.local_area_id {
            let of = Reported { at: report.content.created_at, depth: flood_depth(report) };
            by_area.entry(area).or_default().push(of);
        }
    }
    Ok(by_area)
}
