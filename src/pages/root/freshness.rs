use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::join;
use serde::Serialize;

use crate::model::{AreaSelector, FloodState, FloodStateRecord, Report, Timestamp};
use crate::stores::{FloodQuery, GaugeQuery, ReportQuery, Store, Window};

/// The period in which the latest report and reading are looked for: the one a map shows by default, so that no more has to be
/// read.
const WINDOW: Window = Window::Last(Duration::from_hours(1));

/// How many reports the page lists.
const MOST_REPORTS: usize = 8;

/// How many areas are flooded, and when each kind of data was last added to; null if there is none, or if the store cannot be
/// read now.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Freshness {
    /// How many areas have each state.
    #[serde(skip)]
    pub(super) flooded: Option<BTreeMap<u8, u64>>,
    /// The newest reports of the last hour.
    #[serde(skip)]
    pub(super) reports: Vec<Arc<Report>>,
    /// Whether the reports and the readings could be read.
    #[serde(skip)]
    pub(super) are_read: [bool; 2],
    /// When the latest of the current states was set; on the page also when the latest flood was over.
    pub(super) flood_state: Option<Timestamp>,
    /// When the latest report of the last hour was made.
    pub(super) report: Option<Timestamp>,
    /// When the latest reading of the last hour was made.
    pub(super) gauge_reading: Option<Timestamp>,
}

impl Freshness {
    pub(super) async fn read(store: &dyn Store) -> Self {
        let states = FloodQuery::default();
        let reports = ReportQuery {
            selector: AreaSelector::default(),
            disaster: None,
            training: false,
            window: WINDOW,
        };
        let gauges = GaugeQuery { selector: AreaSelector::default(), window: WINDOW };
        let (states, reports, gauges) =
            join!(store.flood_states(&states), store.reports(&reports), store.gauges(&gauges));
        let states = states.ok().map(|states| states.value);
        let are_read = [reports.is_ok(), gauges.is_ok()];
        let reports = reports.map(|reports| reports.value.reports).unwrap_or_default();
        let set_at = |record: &FloodStateRecord| record.last_updated;
        Self {
            flooded: states.as_deref().map(by_state),
            are_read,
            flood_state: states.iter().flat_map(|states| states.iter().map(set_at)).max(),
            // The newest comes first.
            report: reports.first().map(|report| report.content.created_at),
            reports: reports.iter().take(MOST_REPORTS).cloned().collect(),
            gauge_reading: gauges.ok().and_then(|gauges| gauges.value.newest()),
        }
    }
}

/// Returns how many areas have each state, also none.
fn by_state(records: &[FloodStateRecord]) -> BTreeMap<u8, u64> {
    let mut counts: BTreeMap<_, _> = FloodState::ALL.map(|state| (state.code(), 0)).into();
    for record in records {
        *counts.entry(record.state.code()).or_default() += 1;
    }
    counts
}
