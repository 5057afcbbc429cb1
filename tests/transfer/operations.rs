//! Short forms of store operations.

use std::sync::Arc;
use std::time::Duration;

use siaga::model::bodies::PartnerReport;
use siaga::model::{Actor, AreaLimit, CardId, DisasterType, Report, Timestamp};
use siaga::stores::{FloodQuery, SetFloodState, Store, StoreError};

use crate::fixture::{content, id, now, place, state};

/// The keys of all reports.
pub(crate) const KEYS: &str = "SELECT pkey FROM reports ORDER BY pkey";

/// Counts the entries whose run does not begin where the log says.
pub(crate) const WRONG_RUNS: &str = "
    SELECT count(*) FROM flood_changes JOIN flood_times USING (area_id, changed_at)
    WHERE flood_changes.run_began_at <> flood_times.run_began_at";

/// Some milliseconds before now.
pub(crate) fn before(milliseconds: u64) -> Timestamp {
    now().saturating_sub(Duration::from_millis(milliseconds))
}

pub(crate) fn write(area: u64, code: Option<u64>) -> SetFloodState {
    let by = Actor { subject: "test".to_owned(), username: None };
    SetFloodState { area: id(area), state: code.map(state), by, limit: AreaLimit::Everywhere }
}

pub(crate) fn post(post_id: i64, x: f64, y: f64) -> PartnerReport {
    PartnerReport { post_id, content: content(DisasterType::Flood, 0, place(x, y)) }
}

pub(crate) fn card_id(text: &str) -> CardId {
    text.parse().unwrap()
}

pub(crate) async fn receive(store: &dyn Store, card: &str) -> Result<Arc<Report>, StoreError> {
    store.receive_card_report(&card_id(card), content(DisasterType::Flood, 0, place(0.5, 0.5))).await
}

pub(crate) async fn state_codes(store: &dyn Store) -> Vec<(u64, u8)> {
    let states = store.flood_states(&FloodQuery::default()).await.unwrap().value;
    states.iter().map(|record| (record.area_id.number(), record.state.code())).collect()
}
