//! Flood states and their log.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, TickingClock, open};
use crate::fixture::{id, now, state};
use siaga::model::alerts::entries;
use siaga::model::{Actor, AreaLimit, AreaSelector, CurrentState, FloodChange, Period, Timestamp};
use siaga::stores::{
    EntryQuery, FloodQuery, HistoryQuery, LogQuery, Resource, SetFloodState, Store, StoreError,
};

fn actor() -> Actor {
    Actor { subject: "agency".to_owned(), username: Some("duty officer".to_owned()) }
}

fn request(area: u64, code: Option<u64>) -> SetFloodState {
    SetFloodState { area: id(area), state: code.map(state), by: actor(), limit: AreaLimit::Everywhere }
}

fn city(code: &str) -> AreaSelector {
    AreaSelector { city: Some(code.to_owned()), region: None }
}

fn query(selector: AreaSelector, minimum: Option<u64>) -> FloodQuery {
    FloodQuery { selector, minimum_state: minimum.map(state) }
}

async fn map(store: &dyn Store, query: &FloodQuery) -> Vec<(u64, Option<u8>)> {
    let layer = store.floods(query).await.unwrap().value;
    let code = |current: CurrentState| current.state.code();
    layer.features().map(|flood| (flood.area.id.number(), flood.current.map(code))).collect()
}

async fn states(store: &dyn Store, query: &FloodQuery) -> Vec<(u64, u8)> {
    let records = store.flood_states(query).await.unwrap().value;
    records.iter().map(|record| (record.area_id.number(), record.state.code())).collect()
}

fn hours(hours: u64) -> Duration {
    Duration::from_hours(hours)
}

fn history(selector: AreaSelector, start: Timestamp, end: Timestamp) -> HistoryQuery {
    HistoryQuery { selector, period: Period::new(start, end, hours(24 * 366)).unwrap() }
}

pub async fn every_area_is_listed_by_number_with_its_current_state(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let expected = [(1, None), (2, None), (5, Some(2)), (10, None), (30, Some(3))];
    assert_eq!(map(&*store, &FloodQuery::default()).await, expected);
}

pub async fn a_minimum_state_leaves_out_lower_states_and_areas_without_one(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for (minimum, expected) in [(1, &[(5, 2), (30, 3)][..]), (3, &[(30, 3)]), (4, &[])] {
        let query = query(AreaSelector::default(), Some(minimum));
        assert_eq!(states(&*store, &query).await, expected, "at least {minimum}");
        let on_map: Vec<_> = expected.iter().map(|&(area, code)| (area, Some(code))).collect();
        assert_eq!(map(&*store, &query).await, on_map, "at least {minimum}");
    }
}

pub async fn a_selector_leaves_out_other_cities_and_provinces(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(map(&*store, &query(city("bdg"), None)).await, [(30, Some(3))]);
    assert_eq!(states(&*store, &query(city("jbd"), None)).await, [(5, 2)]);
    let region = AreaSelector { city: None, region: Some("ID-JB".to_owned()) };
    assert_eq!(states(&*store, &query(region, None)).await, [(30, 3)]);
    let both = AreaSelector { region: Some("ID-JK".to_owned()), ..city("bdg") };
    assert_eq!(map(&*store, &query(both, None)).await, []);
    assert_eq!(map(&*store, &query(city("sby"), None)).await, []);
}

pub async fn only_areas_with_a_state_are_listed_as_states(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(states(&*store, &FloodQuery::default()).await, [(5, 2), (30, 3)]);
}

pub async fn a_set_state_is_current_and_logged_with_who_set_it(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let later = now().saturating_add(hours(1));
    clock.set(later);
    let change = store.set_flood_state(request(10, Some(4))).await.unwrap();
    let expected =
        FloodChange { area: id(10), state: Some(state(4)), at: later, received: later, by: actor() };
    assert_eq!(change, expected);
    assert_eq!(store.flood_log(id(10)).await.unwrap(), [expected]);
    let record = store.flood_states(&FloodQuery::default()).await.unwrap().value[1];
    assert_eq!((record.area_id, record.state, record.last_updated), (id(10), state(4), later));
}

pub async fn setting_the_same_state_again_is_a_change(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let before = store.flood_log(id(5)).await.unwrap().len();
    clock.set(now().saturating_add(hours(1)));
    store.set_flood_state(request(5, Some(2))).await.unwrap();
    assert_eq!(store.flood_log(id(5)).await.unwrap().len(), before + 1);
    let record = store.flood_states(&FloodQuery::default()).await.unwrap().value[0];
    assert_eq!((record.area_id, record.last_updated), (id(5), now().saturating_add(hours(1))));
}

pub async fn the_newest_changes_of_an_area_come_first_in_pages(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    for hour in 1..=5 {
        clock.set(now().saturating_add(hours(hour)));
        store.set_flood_state(request(10, (hour < 5).then_some(hour))).await.unwrap();
        store.set_flood_state(request(5, Some(1))).await.unwrap();
    }
    let mut log = store.flood_log(id(10)).await.unwrap();
    log.reverse();
    let latest = |area, before, most| {
        let (store, query) = (Arc::clone(&store), LogQuery { area: id(area), before, most });
        async move { store.latest_flood_changes(&query).await }
    };
    assert_eq!(latest(10, None, 1_000).await.unwrap(), log);
    assert_eq!(latest(10, None, 2).await.unwrap(), log[..2]);
    assert_eq!(latest(10, Some(log[1].at), 2).await.unwrap(), log[2..4]);
    assert_eq!(
        latest(10, Some(log[1].at.saturating_add(Duration::from_millis(1))), 1).await.unwrap(),
        log[1..2]
    );
    assert_eq!(latest(10, Some(log[4].at), 2).await.unwrap(), []);
    assert_eq!(latest(10, None, 0).await.unwrap(), []);
    assert_eq!(latest(2, None, 2).await.unwrap(), [], "it never had a state");
    assert!(matches!(latest(3, None, 2).await, Err(StoreError::NotFound { .. })));
}

pub async fn each_log_entry_has_the_start_of_its_flood(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    // The area is set, confirmed until more than a day later, raised, cleared twice, and set again after more than a day.
    for (hour, code) in
        [(1, Some(2)), (2, Some(2)), (26, Some(2)), (27, Some(3)), (28, None), (60, None), (61, Some(3))]
    {
        clock.set(now().saturating_add(hours(hour)));
        store.set_flood_state(request(10, code)).await.unwrap();
    }
    let (first, last) = (now().saturating_sub(hours(24 * 366)), now().saturating_add(hours(100)));
    let found = |area, from, until| {
        let (store, query) =
            (Arc::clone(&store), EntryQuery { selector: AreaSelector::default(), area, from, until });
        async move { store.flood_entries(&query).await.unwrap().value }
    };
    let runs: Vec<_> = found(Some(id(10)), first, last).await[0].1.iter().map(|entry| entry.run).collect();
    assert_eq!(runs, [1, 1, 1, 27, 28, 60, 61].map(|hour| now().saturating_add(hours(hour))));

    let mut all = Vec::new();
    for number in [1, 2, 5, 10, 30] {
        let log = store.flood_log(id(number)).await.unwrap();
        all.push((id(number), entries(log.iter().map(FloodChange::change))));
    }
    all.retain(|(_, entries)| !entries.is_empty());
    assert_eq!(found(None, first, last).await, all, "as they follow from the whole log");

    // Both ends of the period are included.
    let (from, until) = (now().saturating_add(hours(2)), now().saturating_add(hours(27)));
    let selected = found(None, from, until).await;
    assert_eq!(selected, [(id(10), all.iter().find(|(area, _)| *area == id(10)).unwrap().1[1..4].to_vec())]);
    assert_eq!(found(Some(id(10)), from, until).await, selected);
    assert_eq!(found(Some(id(5)), from, until).await, []);
    assert_eq!(found(Some(id(3)), first, last).await, [], "no such area");

    // Area 30 is in another city.
    for (code, areas) in
        [("jbd", &[1, 2, 5, 10][..]), ("bdg", &[30]), ("ID-JK", &[1, 2, 5, 10]), ("sby", &[])]
    {
        let query = EntryQuery { selector: city(code), area: None, from: first, until: last };
        let of_city = all.iter().filter(|(area, _)| areas.contains(&area.number()));
        let of_city: Vec<_> = of_city.cloned().collect();
        let count: u64 = of_city.iter().map(|(_, entries)| entries.len() as u64).sum();
        assert_eq!(store.flood_entries(&query).await.unwrap().value, of_city, "{code}");
        assert_eq!(store.count_flood_entries(&query, 1_000).await.unwrap(), count, "{code}");
    }
    let everywhere = EntryQuery { selector: AreaSelector::default(), area: None, from, until };
    assert_eq!(store.count_flood_entries(&everywhere, 1_000).await.unwrap(), 3);
    assert_eq!(store.count_flood_entries(&everywhere, 2).await.unwrap(), 2, "at most so many");
    let of_area = EntryQuery { area: Some(id(5)), ..everywhere };
    assert_eq!(store.count_flood_entries(&of_area, 1_000).await.unwrap(), 0);
}

pub async fn a_cleared_area_stays_on_the_map_without_a_state(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let change = store.set_flood_state(request(5, None)).await.unwrap();
    assert_eq!(change.state, None);
    assert_eq!(map(&*store, &FloodQuery::default()).await[2], (5, None));
    assert_eq!(states(&*store, &FloodQuery::default()).await, [(30, 3)]);
    assert_eq!(store.flood_log(id(5)).await.unwrap().pop(), Some(change));
}

pub async fn clearing_an_area_without_a_state_is_logged(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for times in 1..=2 {
        store.set_flood_state(request(2, None)).await.unwrap();
        assert_eq!(store.flood_log(id(2)).await.unwrap().len(), times);
    }
    assert_eq!(states(&*store, &FloodQuery::default()).await, [(5, 2), (30, 3)]);
}

pub async fn an_unknown_area_is_not_found_and_nothing_changes(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Floods).await.unwrap();
    for code in [Some(3), None] {
        for number in [3, siaga::model::AreaId::MAX] {
            let error = store.set_flood_state(request(number, code)).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
            assert_eq!(store.flood_log(id(number)).await.unwrap(), []);
        }
    }
    assert_eq!(store.revision(Resource::Floods).await.unwrap(), before);
}

pub async fn a_revision_grows_with_every_change_and_nothing_else(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut last = store.revision(Resource::Floods).await.unwrap();
    for code in [Some(1), Some(1), None, None] {
        store.set_flood_state(request(1, code)).await.unwrap();
        let revision = store.revision(Resource::Floods).await.unwrap();
        assert!(revision > last, "{revision:?} after {last:?}");
        assert_eq!(store.floods(&FloodQuery::default()).await.unwrap().revision, revision);
        assert_eq!(store.flood_states(&FloodQuery::default()).await.unwrap().revision, revision);
        let everything = EntryQuery {
            selector: AreaSelector::default(),
            area: None,
            from: now().saturating_sub(hours(1)),
            until: now().saturating_add(hours(1)),
        };
        assert_eq!(store.flood_entries(&everything).await.unwrap().revision, revision);
        last = revision;
    }
    assert_eq!(store.revision(Resource::Floods).await.unwrap(), last, "reads change nothing");
}

pub async fn the_log_of_an_area_ascends_though_the_clock_steps_back(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let first = store.set_flood_state(request(1, Some(1))).await.unwrap();
    let back = now().saturating_sub(hours(48));
    clock.set(back);
    let second = store.set_flood_state(request(1, Some(2))).await.unwrap();
    assert_eq!((second.at, second.received), (first.at.saturating_add(Duration::from_millis(1)), back));
}

pub async fn simultaneous_changes_of_an_area_get_distinct_times(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut moments = Vec::new();
    for code in [Some(4), None, None, Some(1)] {
        moments.push(store.set_flood_state(request(2, code)).await.unwrap().at);
    }
    let expected = (0..4).map(|millis| now().saturating_add(Duration::from_millis(millis)));
    assert_eq!(moments, expected.collect::<Vec<_>>());
    let logged: Vec<_> = store.flood_log(id(2)).await.unwrap().iter().map(|change| change.at).collect();
    assert_eq!(logged, moments);
    // Each state was in effect for at least a millisecond, so the highest state counts.
    let query = history(AreaSelector::default(), now(), now().saturating_add(hours(1)));
    let highest = store.flood_archive(&query).await.unwrap().value[0];
    assert_eq!((highest.area_id, highest.max_state, highest.last_updated), (id(2), state(4), now()));
}

pub async fn the_newest_of_concurrent_changes_is_the_current_state(fresh: &dyn FreshStore) {
    let store = fresh.open(Arc::new(TickingClock::default())).await;
    for round in 0..10 {
        let changes = (0..20).map(|change| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.set_flood_state(request(1, Some(1 + change % 4))).await })
        });
        for change in join_all(changes).await {
            change.unwrap().unwrap();
        }
        let log = store.flood_log(id(1)).await.unwrap();
        let newest = log.last().unwrap();
        let record = store.flood_states(&FloodQuery::default()).await.unwrap().value[0];
        assert_eq!((record.area_id, Some(record.state)), (newest.area, newest.state));
        assert_eq!(record.last_updated, newest.at);
        // The fixture's log has two entries for this area.
        assert_eq!(log.len() as u64, 2 + 20 * (round + 1), "every change is logged");
        assert!(log.windows(2).all(|pair| pair[0].at < pair[1].at), "each has a moment of its own");
    }
}

pub async fn a_visible_state_is_in_the_log(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let writer = Arc::clone(&store);
    let writing = tokio::spawn(async move {
        for change in 0..200u32 {
            clock.set(now().saturating_add(Duration::from_secs(change.into())));
            writer.set_flood_state(request(1, Some(u64::from(1 + change % 4)))).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    let mut last = None;
    while !writing.is_finished() {
        let seen = store.flood_states(&query(AreaSelector::default(), Some(1))).await.unwrap();
        let log = store.flood_log(id(1)).await.unwrap();
        for record in seen.value.iter().filter(|record| record.area_id == id(1)) {
            let logged =
                |change: &FloodChange| change.state == Some(record.state) && change.at == record.last_updated;
            assert!(log.iter().any(logged), "{record:?} has no entry");
        }
        assert!(last <= Some(seen.revision), "revisions ascend");
        last = Some(seen.revision);
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
}

pub async fn the_archive_returns_the_highest_state_in_effect(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let records = |selector, from: u64, to: u64| {
        let query = history(selector, now().saturating_sub(hours(from)), now().saturating_sub(hours(to)));
        let store = Arc::clone(&store);
        async move {
            let records = store.flood_archive(&query).await.unwrap().value;
            let short = records.iter().map(|record| {
                (record.area_id.number(), record.max_state.code(), record.last_updated.to_string())
            });
            short.collect::<Vec<_>>()
        }
    };
    let highest = |area, code, at: &str| (area, code, at.to_owned());
    assert_eq!(
        records(AreaSelector::default(), 24 * 7, 0).await,
        [
            highest(1, 2, "2016-12-14T07:30:35.000Z"),
            highest(5, 4, "2016-12-14T09:00:35.000Z"),
            highest(30, 3, "2016-12-13T08:00:35.000Z"),
        ]
    );
    // The state was set long before the period.
    assert_eq!(records(city("jbd"), 1, 0).await, [highest(5, 2, "2016-12-19T13:41:35.000Z")]);
    assert_eq!(records(AreaSelector::default(), 24 * 9, 24 * 8).await, []);
}

pub async fn the_archive_includes_a_change_just_made(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    store.set_flood_state(request(2, Some(4))).await.unwrap();
    let query = history(AreaSelector::default(), now(), now());
    let records = store.flood_archive(&query).await.unwrap().value;
    let codes: Vec<_> =
        records.iter().map(|record| (record.area_id.number(), record.max_state.code())).collect();
    assert_eq!(codes, [(2, 4), (5, 2), (30, 3)]);
}

pub async fn the_series_counts_flooded_areas_at_each_hour(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let start = Timestamp::parse("2016-12-14T05:59:59Z").unwrap();
    let end = Timestamp::parse("2016-12-14T10:00:00Z").unwrap();
    let counts = |selector| {
        let query = history(selector, start, end);
        let store = Arc::clone(&store);
        async move {
            let points = store.flood_series(&query).await.unwrap().value;
            assert_eq!(points[0].ts, start.floor_to_hour());
            points.iter().map(|point| point.count).collect::<Vec<_>>()
        }
    };
    assert_eq!(counts(AreaSelector::default()).await, [1, 1, 2, 3, 3, 3]);
    assert_eq!(counts(city("jbd")).await, [0, 0, 1, 2, 2, 2]);
}
