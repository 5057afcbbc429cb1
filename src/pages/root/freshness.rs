use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::join;
use serde::Serialize;

use crate::archive::Archive;
use crate::model::{AreaSelector, FloodState, FloodStateRecord, Report, Timestamp};
use crate::pages::docs::has_files;
use crate::stores::{FloodQuery, GaugeQuery, ReportQuery, Store, Window};

/// The default period of the map resources, so that this page reads no more than a map does.
const WINDOW: Window = Window::Last(Duration::from_hours(1));

const MAX_REPORTS: usize = 8;

/// How many areas are flooded, and when each kind of data last changed. A field is null if there is no data, or it cannot be
/// read.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Freshness {
    #[serde(skip)]
    pub(super) flooded: Option<BTreeMap<u8, u64>>,
    #[serde(skip)]
    pub(super) states: Arc<Vec<FloodStateRecord>>,
    #[serde(skip)]
    pub(super) reports: Vec<Arc<Report>>,
    /// Whether reports and readings could be read.
    #[serde(skip)]
    pub(super) are_read: [bool; 2],
    #[serde(skip)]
    pub(super) has_archive: bool,
    /// When the newest current state was set. The page shows the latest end of a flood instead, if that is newer.
    pub(super) flood_state: Option<Timestamp>,
    /// The time of the latest report in the last hour.
    pub(super) report: Option<Timestamp>,
    /// The time of the latest reading in the last hour.
    pub(super) gauge_reading: Option<Timestamp>,
}

impl Freshness {
    pub(super) async fn read(store: &dyn Store, archive: Option<&Archive>) -> Self {
        let states = FloodQuery::default();
        let reports = ReportQuery {
            selector: AreaSelector::default(),
            disaster: None,
            training: false,
            window: WINDOW,
        };
        let gauges = GaugeQuery { selector: AreaSelector::default(), window: WINDOW, with_failed: false };
        let (states, reports, gauges, has_archive) = join!(
            store.flood_states(&states),
            store.reports(&reports),
            store.gauges(&gauges),
            has_files(archive)
        );
        let states = states.ok().map(|states| states.value);
        let are_read = [reports.is_ok(), gauges.is_ok()];
        let reports = reports.map(|reports| reports.value.reports).unwrap_or_default();
        let set_at = |record: &FloodStateRecord| record.last_updated;
        Self {
            flooded: states.as_deref().map(count_by_state),
            are_read,
            has_archive,
            flood_state: states.iter().flat_map(|states| states.iter().map(set_at)).max(),
            states: Arc::new(states.unwrap_or_default()),
            // The store returns the newest reports first.
            report: reports.first().map(|report| report.content.created_at),
            reports: reports.iter().take(MAX_REPORTS).cloned().collect(),
            gauge_reading: gauges.ok().and_then(|gauges| gauges.value.newest()),
        }
    }
}

/// Counts areas by state. A state without areas has the count 0.
fn count_by_state(records: &[FloodStateRecord]) -> BTreeMap<u8, u64> {
    let mut counts: BTreeMap<_, _> = FloodState::ALL.map(|state| (state.code(), 0)).into();
    for record in records {
        *counts.entry(record.state.code()).or_default() += 1;
    }
    counts
}
