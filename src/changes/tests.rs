//! The invariant of changes: a client that applies all deltas has the current states.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Cursor, Delta, FullState, RemovedReports, Snapshot, State};
use crate::config::Streams;
use crate::fixture;
use crate::http::concurrency_limiter::LimitReached;
use crate::http::quotas::{Client, StreamLimiter};
use crate::model::{AreaId, AreaSelector, FloodLayer, FloodState, FloodStatus, StateChange, Timestamp};
use crate::rendering::{Busy, PermitPool, Permits};
use crate::stores::{FloodQuery, Revision};
use crate::telemetry::Metrics;
use proptest::prelude::*;

const EPOCH: u64 = 7;

type States = [Option<FloodState>; 5];

fn map_at(states: States, changed: [Timestamp; 5]) -> FloodLayer {
    let statuses = states.into_iter().zip(changed);
    let statuses = statuses.map(|(state, at)| FloodStatus::after_first(StateChange { state, at }));
    FloodLayer::new(Arc::new(fixture::areas()), statuses.enumerate().collect())
}

fn cursor(revision: usize) -> Cursor {
    Cursor::new(EPOCH, [revision as u64, 0, 0, 0].map(Revision))
}

fn at(revision: usize) -> Timestamp {
    Timestamp::EPOCH.saturating_add(Duration::from_secs(revision as u64))
}

/// The states at each revision, and the area that changed.
type History = Vec<(States, Option<usize>)>;

struct Server(Option<State>);

impl Server {
    fn read(&mut self, history: &History, revision: usize) {
        let mut changed = [Timestamp::EPOCH; 5];
        for (number, (_, area)) in history[..=revision].iter().enumerate() {
            if let Some(area) = area {
                changed[*area] = at(number);
            }
        }
        let map = map_at(history[revision].0, changed);
        let snapshot =
            Snapshot { cursor: cursor(revision), layer: &map, removed: &RemovedReports::default() };
        self.0 = Some(self.0.take().map_or_else(|| State::new(snapshot), |state| state.next(snapshot)));
    }
}

fn first(cursor: Cursor, states: States) -> State {
    let map = map_at(states, [Timestamp::EPOCH; 5]);
    State::new(Snapshot { cursor, layer: &map, removed: &RemovedReports::default() })
}

#[derive(Clone, Default)]
struct Reader {
    cursor: Option<Cursor>,
    states: BTreeMap<AreaId, FloodState>,
}

impl Reader {
    fn take(&mut self, delta: &Delta) {
        if delta.full {
            self.states.clear();
        }
        for area in &delta.areas {
            match area.state {
                Some(state) => drop(self.states.insert(area.area_id, state)),
                None => drop(self.states.remove(&area.area_id)),
            }
        }
        self.cursor = Some(delta.cursor);
    }
}

fn selected(states: States, query: &FloodQuery) -> BTreeMap<AreaId, FloodState> {
    let areas = fixture::areas();
    let all = areas.iter().zip(states).filter(|(area, _)| query.selector.matches(area));
    let all = all.filter_map(|(area, state)| Some((area.id, state?)));
    all.filter(|(_, state)| query.minimum_state.is_none_or(|least| *state >= least)).collect()
}

fn query() -> impl Strategy<Value = FloodQuery> {
    let city = prop_oneof![Just(None), Just(Some("jbd".to_owned())), Just(Some("bdg".to_owned()))];
    let minimum = prop::option::of(prop::sample::select(FloodState::ALL.to_vec()));
    (city, minimum).prop_map(|(city, minimum_state)| FloodQuery {
        selector: AreaSelector { city, region: None },
        minimum_state,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn deltas_from_any_servers_lead_to_the_current_states(
        commits in prop::collection::vec((0..5_usize, prop::option::of(1..5_u64)), 1..30),
        steps in prop::collection::vec((0..3_usize, any::<bool>(), any::<bool>()), 1..60),
        query in query(),
    ) {
        let mut history = vec![(States::default(), None)];
        for (area, code) in commits {
            let mut states = history.last().unwrap().0;
            states[area] = code.and_then(|code| FloodState::try_from(code).ok());
            history.push((states, Some(area)));
        }
        let last = history.len() - 1;
        let mut servers = [Server(None), Server(None)];
        let mut reader = Reader::default();
        let mut committed = 0;
        for (commits, first, restarts) in steps {
            committed = (committed + commits).min(last);
            let server = &mut servers[usize::from(first)];
            if restarts && commits == 0 {
                // A restarted server has read no earlier revisions.
                *server = Server(None);
            }
            server.read(&history, committed);
            let delta = server.0.as_ref().unwrap().since(reader.cursor, &query);
            if delta.is_empty() {
                let known = reader.cursor.unwrap();
                prop_assert!(known == delta.cursor || known.floods < delta.cursor.floods);
            }
            reader.take(&delta);
            prop_assert_eq!(&reader.states, &selected(history[committed].0, &query));
        }
        // A server with older states must not revert newer states of the client.
        let mut behind = Server(None);
        behind.read(&history, 0);
        let before = reader.clone();
        if reader.cursor.is_some_and(|cursor| cursor.floods > Revision(0)) {
            let delta = behind.0.unwrap().since(reader.cursor, &query);
            prop_assert!(delta.is_empty());
            reader.take(&delta);
            prop_assert_eq!(reader.cursor, before.cursor);
        }
    }
}

#[test]
fn cursors_of_another_epoch_and_old_cursors_get_the_full_state() {
    let states: States = [None, FloodState::try_from(3).ok(), None, FloodState::try_from(1).ok(), None];
    let state = first(cursor(9), states);
    let all = |since| state.since(since, &FloodQuery::default());
    for since in [None, Some(cursor(8)), Some(Cursor { epoch: 8, ..cursor(9) })] {
        let delta = all(since);
        assert!(delta.full && delta.areas.len() == 2 && delta.cursor == cursor(9), "{since:?}");
        assert_eq!(delta.changed, ["reports", "gauges", "infrastructure", "areas"]);
    }
    assert!(all(Some(cursor(9))).is_empty());
    let grown = state.with_cursor(Cursor { reports: Revision(4), ..cursor(9) }, RemovedReports::default());
    assert_eq!(grown.since(Some(cursor(9)), &FloodQuery::default()).changed, ["reports"]);
}

#[test]
fn an_import_that_moves_an_area_sends_the_full_state_to_all() {
    let state = first(cursor(3), States::default());
    let mut areas: Vec<_> = fixture::areas().iter().cloned().collect();
    areas[0].city_code = "sby".to_owned();
    let areas = siaga::model::AreaSet::new(areas).unwrap();
    let dry = (0..5).map(|position| (position, FloodStatus::NEVER_FLOODED));
    let moved = FloodLayer::new(Arc::new(areas), dry.collect());
    let next = state.next(Snapshot { cursor: cursor(4), layer: &moved, removed: &RemovedReports::default() });
    assert!(next.since(Some(cursor(3)), &FloodQuery::default()).full);
    assert!(!next.since(Some(cursor(4)), &FloodQuery::default()).full);
}

#[test]
fn clients_share_deltas_of_recent_cursors_only() {
    let mut server = Server(None);
    let states: States = [FloodState::try_from(3).ok(), None, None, None, None];
    let history: History = vec![(States::default(), None), (states, Some(0))];
    server.read(&history, 0);
    server.read(&history, 1);
    let state = server.0.unwrap();
    let query = FloodQuery::default();
    for number in 0..1_000 {
        let made_up = Cursor { reports: Revision(number + 1), ..cursor(0) };
        assert!(!state.since(Some(made_up), &query).areas.is_empty());
    }
    let shared = state.since(Some(cursor(0)), &query);
    assert_eq!(shared.areas.len(), 1);
    assert!(Arc::ptr_eq(&shared, &state.since(Some(cursor(0)), &query)));
    assert!(Arc::ptr_eq(&state.since(Some(cursor(1)), &query), &state.since(Some(cursor(1)), &query)));
}

#[rocket::async_test]
async fn a_full_state_is_encoded_once_and_retained_while_there_is_room() {
    let state = first(cursor(9), States::default());
    let permits = Permits::new(1 << 20, 0, NonZeroUsize::MIN, Metrics::default());
    let encoded = AtomicU64::new(0);
    let full = async |minimum_state: Option<FloodState>, weight: u64| {
        let encode = async || {
            encoded.fetch_add(1, Ordering::SeqCst);
            let permit = Box::new(permits.large(PermitPool::States, weight).await?.finish(40));
            Ok::<_, Busy>(Arc::new(FullState { cursor: state.cursor(), json: vec![b' '; 40], permit }))
        };
        state.full_state(&FloodQuery { minimum_state, ..FloodQuery::default() }, weight, 100, encode).await
    };
    let one = full(None, 40).await.unwrap();
    assert!(Arc::ptr_eq(&one, &full(None, 40).await.unwrap()));
    let other = FloodState::try_from(2).ok();
    drop(full(other, 40).await.unwrap());
    drop(full(other, 40).await.unwrap());
    assert_eq!(encoded.load(Ordering::SeqCst), 2, "both stay");
    drop(full(FloodState::try_from(3).ok(), 100).await.unwrap());
    assert!(Arc::ptr_eq(&one, &full(None, 40).await.unwrap()), "a client still has it");
    drop(full(other, 40).await.unwrap());
    assert_eq!(encoded.load(Ordering::SeqCst), 4, "there was no room for it");
}

#[test]
fn credentials_and_addresses_have_different_stream_limits() {
    let limits: Streams =
        serde_json::from_value(serde_json::json!({ "total": 4, "per_address": 2, "per_key": 1 })).unwrap();
    let limiter = StreamLimiter::new(limits, &Metrics::default());
    let key = || Client::Credential(siaga::auth::CredentialKind::ApiKey, "a".into());
    let _first = limiter.try_acquire(key()).unwrap();
    assert_eq!(limiter.try_acquire(key()).unwrap_err(), LimitReached::PerKey);
    let address = || Client::from(std::net::IpAddr::from([192, 0, 2, 1]));
    let _both = [limiter.try_acquire(address()).unwrap(), limiter.try_acquire(address()).unwrap()];
}
