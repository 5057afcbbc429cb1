use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::time::{Instant, sleep, timeout};

use super::clock::SteppingClock;
use super::faulty_store::FaultyStore;
use super::history::{History, States};
use crate::changes::{Cursor, Delta, Follower};
use crate::model::alerts::{CONFIRMED_FOR, MessageType};
use crate::model::{AreaId, AreaSelector, Clock, FloodState, ReportKey, Validity};
use crate::stores::{
    AlertQuery, AttentionList, FloodQuery, ReportQuery, Store, StoreError, Versioned, Window,
};

/// How old the data of one server may be: [`Store::revision`], and a poll of the follower.
const LAG: Duration = Duration::from_secs(1);
/// How long a read waits for the store, as `limits.timeout`.
const LIMIT: Duration = Duration::from_secs(10);
/// Ages of a confirmation at which a clock that is off decides whether an alert is in force.
const UNDECIDED: Duration = Duration::from_hours(6);

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    cursor: Option<Cursor>,
    states: States,
    reports: BTreeSet<ReportKey>,
    /// How long the reports are valid if they do not change; `None` if the last request for them failed.
    validity: Option<Validity>,
    /// The position of the states in the history.
    position: usize,
}

impl Reader {
    /// Reads the changes from a server, and checks that the states are those of a moment that is not too old.
    pub(super) async fn read(&mut self, history: &History, store: &Arc<FaultyStore>, follower: &Follower) {
        let oldest = history.oldest_current(store.server, LAG).max(self.position);
        let began = Instant::now();
        let Ok(Ok((state, since))) = follower.current_since(self.cursor, LIMIT).await else { return };
        let query = FloodQuery::default();
        let delta = state.since(since, &query);
        self.apply(&delta);
        let reports_changed = delta.full || delta.changed.contains(&"reports");
        let revisions = delta.cursor.revisions();
        history.note(format_args!("a reader gets {revisions:?} from server {}", store.server));
        match history.find(&self.states, oldest) {
            Some(position) => self.position = position,
            None => {
                history.violate(format_args!("a reader of server {} sees {:?}", store.server, self.states));
            }
        }
        let is_valid = self.validity.is_some_and(|validity| validity.covers(store.clock.now()));
        if reports_changed || !is_valid {
            match visible_reports(&**store).await {
                Ok(reports) => (self.reports, self.validity) = (reports.value, Some(reports.validity)),
                Err(_) => self.validity = None,
            }
        }
        for report in &delta.gone_reports {
            self.reports.remove(report);
        }
        let hidden = |report: &&ReportKey| history.is_hidden(**report, began.elapsed() + LAG);
        if self.validity.is_some()
            && let Some(report) = self.reports.iter().find(hidden)
        {
            history
                .violate(format_args!("a reader of server {} sees the hidden report {report}", store.server));
        }
    }

    fn apply(&mut self, delta: &Delta) {
        if delta.full {
            self.states.clear();
        }
        for area in &delta.areas {
            if let (Some(state), Some(at)) = (area.state, area.last_updated) {
                self.states.insert(area.area_id, (state, at, area.confirmed));
            } else {
                self.states.remove(&area.area_id);
            }
        }
        self.cursor = Some(delta.cursor);
    }

    pub(super) async fn check_end(&self, history: &History, store: &dyn Store) {
        let (states, reports) =
            (super::history::read_states(store).await.unwrap(), visible_reports(store).await.unwrap().value);
        if self.states != states {
            history.violate(format_args!("a reader ends with {:?}, not {states:?}", self.states));
        }
        if self.reports != reports {
            history
                .violate(format_args!("a reader ends with the reports {:?}, not {reports:?}", self.reports));
        }
    }
}

async fn visible_reports(store: &dyn Store) -> Result<Versioned<BTreeSet<ReportKey>>, StoreError> {
    let (selector, window) = (AreaSelector::default(), Window::Last(Duration::from_hours(10_000)));
    let query = ReportQuery { selector, disaster: None, training: true, window };
    let reports = store.reports(&query).await?;
    Ok(reports.map(|layer| layer.reports.iter().map(|report| report.key).collect()))
}

/// Checks that the alert of each area is about its state, whatever the clock has done.
pub(super) async fn check_alerts(history: &History, store: &Arc<FaultyStore>, clock: &SteppingClock) {
    let oldest = history.oldest_current(store.server, Duration::ZERO);
    let now = clock.now();
    let Ok(alerts) = AlertQuery::InForce(FloodQuery::default()).run(&**store, now).await else { return };
    let of_states =
        |alert: &crate::model::AlertFeature<'_>| alert.message.message_type != MessageType::Cancel;
    let shown: Vec<(AreaId, FloodState)> =
        alerts.value.features().filter(of_states).map(|alert| (alert.area.id, alert.message.state)).collect();
    let agree = |states: &States| {
        let mut expected: Vec<(AreaId, FloodState)> = Vec::new();
        let mut undecided = BTreeSet::new();
        for (area, (state, _, confirmed)) in states {
            match confirmed.map(|confirmed| now.saturating_duration_since(confirmed)) {
                Some(age) if age + UNDECIDED < CONFIRMED_FOR => expected.push((*area, *state)),
                Some(age) if age < CONFIRMED_FOR + UNDECIDED => drop(undecided.insert(*area)),
                _ => {}
            }
        }
        let decided = shown.iter().filter(|(area, _)| !undecided.contains(area)).copied();
        decided.eq(expected)
    };
    let states = history.states_from(oldest);
    if !states.iter().any(agree) {
        history.violate(format_args!("server {} has the alerts {shown:?} of {states:?}", store.server));
    }
}

/// Checks that the list of attention is what its rules find in the stored data, a minute later at most.
pub(super) async fn check_attention(
    history: &History,
    server: usize,
    list: &AttentionList,
    fresh: &AttentionList,
) {
    let writes = history.write_count();
    if history.last_write().is_some_and(|last| last.elapsed() < LAG) {
        return;
    }
    for pause in [Duration::ZERO, Duration::from_mins(1)] {
        sleep(pause).await;
        let Ok(Ok(shown)) = timeout(LIMIT, list.get()).await else { return };
        let Ok(expected) = fresh.get().await else { return };
        let [shown, expected] = [shown, expected].map(|list| serde_json::to_string(&*list).unwrap());
        if history.write_count() != writes || shown == expected {
            return;
        }
        if !pause.is_zero() {
            history.violate(format_args!("server {server} lists {shown}, not {expected}"));
        }
    }
}
