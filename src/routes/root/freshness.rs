use std::time::Duration;

use serde::Serialize;

use crate::model::{AreaSelector, FloodStateRecord, Timestamp};
use crate::stores::{FloodQuery, GaugeQuery, ReportQuery, Store, Window};

/// How far back the latest report is looked for.
const WEEK: Duration = Duration::from_hours(7 * 24);
/// How far back the latest reading is looked for.
const HOUR: Duration = Duration::from_hours(1);

/// When what is known was last added to; null where there is nothing, or the store cannot say now.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Freshness {
    /// When the latest of the states that stand was set.
    flood_state: Option<Timestamp>,
    /// When the latest report of the last week was made.
    report: Option<Timestamp>,
    /// When the latest reading of the last hour was made.
    gauge_reading: Option<Timestamp>,
}

impl Freshness {
    pub(super) async fn of(store: &dyn Store) -> Self {
        let states = store.flood_states(&FloodQuery::default()).await.ok();
        let set_at = |record: &FloodStateRecord| record.last_updated;
        let everywhere = AreaSelector::default;
        let window = Window::Last(WEEK);
        let reports = ReportQuery { selector: everywhere(), disaster: None, window };
        let reports = store.reports(&reports).await.ok();
        let gauges = GaugeQuery { selector: everywhere(), window: Window::Last(HOUR) };
        let gauges = store.gauges(&gauges).await.ok();
        Self {
            flood_state: states.and_then(|states| states.value.iter().map(set_at).max()),
            // The newest comes first.
            report: reports.and_then(|reports| Some(reports.value.0.first()?.content.created_at)),
            gauge_reading: gauges.and_then(|gauges| gauges.value.newest()),
        }
    }
}
