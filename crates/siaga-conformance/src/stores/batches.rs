//! Batches, and the log of all areas.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, TickingClock, open};
use crate::fixture::{id, now, state};
use siaga::model::{
    Actor, AreaLimit, AreaSelector, BatchItem, BatchNumber, BatchOperation, BatchOutcome, BatchRequest,
    Condition, FloodBatch, FloodChange, LoggedChange, RequestKey, Timestamp,
};
use siaga::stores::{EntryQuery, FloodLogQuery, FloodQuery, Resource, SetFloodState, Store};

fn by(subject: &str) -> Actor {
    Actor { subject: subject.to_owned(), username: Some("Sri".to_owned()) }
}

fn area(area: u64, code: Option<u64>, after: Condition) -> BatchItem {
    BatchItem { area: id(area), state: code.map(state), after }
}

fn order(changes: BatchOperation) -> BatchRequest {
    BatchRequest {
        changes,
        by: by("desk"),
        limit: AreaLimit::Everywhere,
        note: None,
        request: None,
        preview: false,
    }
}

fn set(changes: &[(u64, Option<u64>)]) -> BatchRequest {
    let changes = changes.iter().map(|&(of, code)| area(of, code, Condition::Any));
    order(BatchOperation::Set(changes.collect()))
}

fn undo(batch: &FloodBatch) -> BatchRequest {
    order(BatchOperation::Undo(batch.number))
}

fn done(outcome: BatchOutcome) -> Arc<FloodBatch> {
    match outcome {
        BatchOutcome::Done { batch, left } if left.is_empty() => batch,
        outcome => panic!("{outcome:?}"),
    }
}

/// Returns the states, without dry areas.
async fn states(store: &dyn Store) -> Vec<(u64, u8)> {
    let records = store.flood_states(&FloodQuery::default()).await.unwrap().value;
    records.iter().map(|record| (record.area_id.number(), record.state.code())).collect()
}

/// Returns all that must stay the same if nothing is stored: the states, the length of the log, and the revision.
async fn all(store: &dyn Store) -> (Vec<(u64, u8)>, usize, u64) {
    let log = log(store, FloodLogQuery::default()).await.len();
    (states(store).await, log, store.revision(Resource::Floods).await.unwrap().0)
}

async fn log(store: &dyn Store, query: FloodLogQuery) -> Vec<LoggedChange> {
    let most = if query.most == 0 { 1_000 } else { query.most };
    store.all_flood_changes(&FloodLogQuery { most, ..query }).await.unwrap()
}

pub async fn a_batch_changes_all_its_areas_at_one_time(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    clock.set(now().saturating_add(Duration::from_hours(1)));
    let note = Some("kelurahan telephoned".to_owned());
    let order = BatchRequest { note: note.clone(), ..set(&[(10, Some(4)), (1, Some(1)), (5, None)]) };
    let batch = done(store.change_floods(order).await.unwrap());
    assert_eq!(batch.at, now().saturating_add(Duration::from_hours(1)));
    assert_eq!(batch.changes, [(id(1), Some(state(1))), (id(5), None), (id(10), Some(state(4)))]);
    assert_eq!(states(&*store).await, [(1, 1), (10, 4), (30, 3)]);
    for (area, state) in &batch.changes {
        let (area, state, at) = (*area, *state, batch.at);
        let change = FloodChange { area, state, at, received: at, by: by("desk") };
        assert_eq!(store.flood_log(area).await.unwrap().pop(), Some(change.clone()));
        let logged = log(&*store, FloodLogQuery { since: Some(batch.at), ..FloodLogQuery::default() }).await;
        assert!(logged.contains(&LoggedChange {
            change,
            batch: Some(batch.number),
            note: note.clone(),
            undoes: None
        }));
    }
    let undo = done(store.change_floods(undo(&batch)).await.unwrap());
    let logged = log(&*store, FloodLogQuery { batch: Some(undo.number), ..FloodLogQuery::default() }).await;
    assert!(logged.len() == 3 && logged.iter().all(|entry| entry.undoes == Some(batch.number)), "{logged:?}");
}

pub async fn a_batch_is_distinguished_from_other_changes_at_the_same_time(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let first = done(store.change_floods(set(&[(1, Some(1))])).await.unwrap());
    let second = done(store.change_floods(set(&[(10, Some(1))])).await.unwrap());
    let order =
        SetFloodState { area: id(5), state: Some(state(4)), by: by("desk"), limit: AreaLimit::Everywhere };
    let alone = store.set_flood_state(order).await.unwrap();
    assert_eq!([first.at, second.at, alone.at], [now(); 3]);
    assert!(first.number < second.number);
    let found = log(&*store, FloodLogQuery { since: Some(now()), ..FloodLogQuery::default() }).await;
    let batches: Vec<_> = found.iter().map(|entry| (entry.change.area, entry.batch)).collect();
    assert_eq!(batches, [(id(1), Some(first.number)), (id(5), None), (id(10), Some(second.number))]);
    for (batch, area) in [(first, 1), (second, 10)] {
        let query = FloodLogQuery { batch: Some(batch.number), ..FloodLogQuery::default() };
        let areas: Vec<_> = log(&*store, query).await.iter().map(|entry| entry.change.area).collect();
        assert_eq!(areas, [id(area)]);
        done(store.change_floods(undo(&batch)).await.unwrap());
    }
    assert_eq!(states(&*store).await, [(5, 4), (30, 3)]);
}

pub async fn a_clock_that_was_ahead_delays_no_other_area(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let ahead = now().saturating_add(Duration::from_hours(2));
    clock.set(ahead);
    let future = done(store.change_floods(set(&[(1, Some(3)), (2, Some(2))])).await.unwrap());
    let request = RequestKey { id: 7, digest: [7; 32] };
    clock.set(now());
    // Changes of other areas, alone or in a batch, have the time of the clock. A change of an area with a later entry follows it.
    let other = BatchRequest { request: Some(request), ..set(&[(10, Some(4)), (30, None)]) };
    let other = done(store.change_floods(other).await.unwrap());
    let single =
        SetFloodState { area: id(5), state: Some(state(4)), by: by("desk"), limit: AreaLimit::Everywhere };
    let alone = store.set_flood_state(single.clone()).await.unwrap();
    let next = store.set_flood_state(SetFloodState { area: id(2), ..single }).await.unwrap();
    assert_eq!((future.at, other.at, alone.at), (ahead, now(), now()));
    let after_future = ahead.saturating_add(Duration::from_millis(1));
    assert_eq!((next.at, next.received), (after_future, now()));
    let query = EntryQuery {
        selector: AreaSelector::default(),
        area: Some(id(2)),
        from: ahead,
        until: Timestamp::LAST,
    };
    let kept: Vec<_> = store.flood_entries(&query).await.unwrap().value[0].1.clone();
    let times: Vec<_> = kept.iter().map(|entry| (entry.at, entry.received)).collect();
    assert_eq!(times, [(ahead, ahead), (after_future, now())]);

    // The log, repeated requests and undoing all find each batch.
    let newest: Vec<_> = log(&*store, FloodLogQuery { most: 4, ..FloodLogQuery::default() })
        .await
        .into_iter()
        .map(|entry| (entry.change.area, entry.batch))
        .collect();
    let (of_future, of_other) = (Some(future.number), Some(other.number));
    assert_eq!(
        newest,
        [
            (id(2), None),
            (id(1), of_future),
            (id(2), of_future),
            (id(5), None),
            (id(10), of_other),
            (id(30), of_other)
        ]
    );
    let repeated = BatchRequest { request: Some(request), ..set(&[(10, Some(4)), (30, None)]) };
    assert_eq!(done(store.change_floods(repeated).await.unwrap()), other);
    let undone = done(store.change_floods(undo(&other)).await.unwrap());
    assert_eq!(undone.at, now().saturating_add(Duration::from_millis(1)));
    let BatchOutcome::Done { batch, left } = store.change_floods(undo(&future)).await.unwrap() else {
        panic!("not undone");
    };
    assert_eq!((batch.at, left), (after_future, vec![id(2)]));
    assert_eq!(states(&*store).await, [(2, 4), (5, 4), (30, 3)]);
}

/// Returns the state of an area and its times (last updated, flooded since, confirmed) in hours after the fixture's `now`.
async fn current(store: &dyn Store, area: u64) -> Option<(u8, [Option<u64>; 3])> {
    let layer = store.floods(&FloodQuery::default()).await.unwrap().value;
    let current = layer.features().find(|flood| flood.area.id == id(area)).unwrap().current?;
    let times = [Some(current.last_updated), current.flooded_since, current.confirmed];
    let hours = |time: Timestamp| time.saturating_duration_since(now()).as_secs() / 3600;
    Some((current.state.code(), times.map(|time| time.map(hours))))
}

/// Returns when the last flood of an area ended, in hours after the fixture's `now`.
async fn over(store: &dyn Store, area: u64) -> Option<u64> {
    let layer = store.floods(&FloodQuery::default()).await.unwrap().value;
    let over = layer.features().find(|flood| flood.area.id == id(area)).unwrap().over_since;
    over.map(|over| over.saturating_duration_since(now()).as_secs() / 3600)
}

pub async fn a_flood_begins_once_and_is_confirmed_by_each_setting(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    assert_eq!((current(&*store, 10).await, over(&*store, 10).await), (None, None), "never flooded");
    let steps = [
        (1, None, Err(None)),
        (2, Some(2), Ok([2, 2, 2])),
        (3, Some(2), Ok([3, 2, 3])),
        (5, Some(4), Ok([5, 2, 5])),
        (6, None, Err(Some(6))),
        (7, None, Err(Some(6))),
        (9, Some(1), Ok([9, 9, 9])),
    ];
    for (hour, code, expected) in steps {
        clock.set(now().saturating_add(Duration::from_hours(hour)));
        // Alternates between a single change and a batch.
        if hour % 2 == 0 {
            done(store.change_floods(set(&[(10, code)])).await.unwrap());
        } else {
            let order = SetFloodState {
                area: id(10),
                state: code.map(state),
                by: by("desk"),
                limit: AreaLimit::Everywhere,
            };
            store.set_flood_state(order).await.unwrap();
        }
        match expected {
            Ok(times) => {
                let code = u8::try_from(code.unwrap()).unwrap();
                assert_eq!(current(&*store, 10).await, Some((code, times.map(Some))), "{hour}");
                let record = store.flood_states(&FloodQuery::default()).await.unwrap().value;
                let record = record.iter().find(|record| record.area_id == id(10)).unwrap();
                assert_eq!(record.flooded_since, Some(now().saturating_add(Duration::from_hours(times[1]))));
            }
            Err(hours) => assert_eq!(over(&*store, 10).await, hours, "{hour}"),
        }
    }
}

pub async fn an_undo_restores_the_times_of_flooding_and_confirmation(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let at = |hour| clock.set(now().saturating_add(Duration::from_hours(hour)));
    done(store.change_floods(set(&[(1, Some(2)), (10, Some(2))])).await.unwrap());
    at(1);
    let confirmed = done(store.change_floods(set(&[(10, Some(2))])).await.unwrap());
    at(2);
    // Undoes a confirmation, then an all clear.
    done(store.change_floods(undo(&confirmed)).await.unwrap());
    assert_eq!(current(&*store, 10).await, Some((2, [Some(2), Some(0), Some(0)])));
    at(3);
    let clear = done(store.change_floods(set(&[(1, None), (10, None)])).await.unwrap());
    assert_eq!(over(&*store, 10).await, Some(3));
    at(4);
    let undone = done(store.change_floods(undo(&clear)).await.unwrap());
    assert_eq!(current(&*store, 10).await, Some((2, [Some(4), Some(0), Some(0)])));
    assert_eq!(current(&*store, 1).await, Some((2, [Some(4), Some(0), Some(0)])));
    at(5);
    // Undoing the undo clears again, at the time of the first clearing.
    done(store.change_floods(undo(&undone)).await.unwrap());
    assert_eq!((current(&*store, 10).await, over(&*store, 10).await), (None, Some(3)));
    at(6);
    // An area that was flooded by mistake counts as never flooded after the undo.
    let mistake = done(store.change_floods(set(&[(2, Some(4))])).await.unwrap());
    at(7);
    done(store.change_floods(undo(&mistake)).await.unwrap());
    assert_eq!((current(&*store, 2).await, over(&*store, 2).await), (None, None));
    at(8);
    // Later changes continue from the restored times.
    done(store.change_floods(set(&[(10, Some(3))])).await.unwrap());
    assert_eq!(current(&*store, 10).await, Some((3, [Some(8); 3])));
    let query = EntryQuery {
        selector: AreaSelector::default(),
        area: Some(id(10)),
        from: now(),
        until: Timestamp::LAST,
    };
    let log = store.flood_entries(&query).await.unwrap().value;
    let hours = |time: Timestamp| time.saturating_duration_since(now()).as_secs() / 3600;
    let times: Vec<_> = log[0]
        .1
        .iter()
        .map(|entry| (hours(entry.at), entry.since.map(hours), entry.confirmed.map(hours)))
        .collect();
    let expected = [(0, 0, 0), (1, 0, 1), (2, 0, 0), (3, 3, 3), (4, 0, 0), (5, 3, 3), (8, 8, 8)];
    assert_eq!(times, expected.map(|(at, since, confirmed)| (at, Some(since), Some(confirmed))));
}

pub async fn a_batch_bumps_the_revision_once(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Floods).await.unwrap();
    store.change_floods(set(&[(1, Some(1)), (2, Some(2)), (10, Some(3))])).await.unwrap();
    let after = store.revision(Resource::Floods).await.unwrap();
    assert!(after > before);
    assert_eq!(store.floods(&FloodQuery::default()).await.unwrap().revision, after);
}

pub async fn a_batch_with_unknown_areas_lists_them_and_changes_nothing(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = all(&*store).await;
    let order = set(&[(99, Some(1)), (1, Some(1)), (3, None)]);
    let outcome = store.change_floods(order).await.unwrap();
    assert_eq!(outcome, BatchOutcome::NoSuchAreas(vec![id(3), id(99)]));
    assert_eq!(all(&*store).await, before);
}

pub async fn a_batch_with_failed_preconditions_lists_the_conflicts_and_changes_nothing(
    fresh: &dyn FreshStore,
) {
    let (store, _) = open(fresh).await;
    let records = store.flood_states(&FloodQuery::default()).await.unwrap().value;
    let (of_5, of_30) = (records[0].last_updated, records[1].last_updated);
    let before = all(&*store).await;
    let conditions = [
        area(1, Some(1), Condition::Dry),
        area(2, Some(1), Condition::SetAt(of_5)),
        area(5, Some(1), Condition::Dry),
        area(10, Some(1), Condition::Any),
        area(30, Some(1), Condition::SetAt(of_30.saturating_add(Duration::from_millis(1)))),
    ];
    let outcome = store.change_floods(order(BatchOperation::Set(conditions.to_vec()))).await.unwrap();
    let BatchOutcome::Conflicts(conflicts) = outcome else { panic!("{outcome:?}") };
    let seen: Vec<_> = conflicts
        .into_iter()
        .map(|(area, newest)| {
            (
                area.number(),
                newest.map(|newest| (newest.state.map(siaga::model::FloodState::code), newest.at)),
            )
        })
        .collect();
    assert_eq!(seen, [(2, None), (5, Some((Some(2), of_5))), (30, Some((Some(3), of_30)))]);
    assert_eq!(all(&*store).await, before);
    let conditions = [area(1, Some(1), Condition::Dry), area(5, Some(1), Condition::SetAt(of_5))];
    done(store.change_floods(order(BatchOperation::Set(conditions.to_vec()))).await.unwrap());
}

pub async fn a_cleared_area_is_dry_whenever_it_was_cleared(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let cleared = done(store.change_floods(set(&[(5, None)])).await.unwrap());
    let after = |after| order(BatchOperation::Set(vec![area(5, Some(1), after)]));
    let outcome = store.change_floods(after(Condition::SetAt(cleared.at))).await.unwrap();
    let BatchOutcome::Conflicts(conflicts) = outcome else { panic!("{outcome:?}") };
    let (_, newest) = conflicts.into_iter().next().unwrap();
    assert_eq!(newest.map(|newest| (newest.state, newest.by)), Some((None, by("desk"))));
    done(store.change_floods(after(Condition::Dry)).await.unwrap());
}

fn requested(order: BatchRequest, id: u128, digest: u8) -> BatchRequest {
    BatchRequest { request: Some(RequestKey { id, digest: [digest; 32] }), ..order }
}

pub async fn a_repeated_request_changes_nothing_for_a_day(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let order = || requested(set(&[(1, Some(1)), (2, Some(2))]), u128::MAX, 1);
    let first = store.change_floods(order()).await.unwrap();
    store.change_floods(set(&[(1, None)])).await.unwrap();
    let before = all(&*store).await;
    clock.set(now().saturating_add(Duration::from_hours(23)));
    assert_eq!(store.change_floods(order()).await.unwrap(), first);
    let other = requested(set(&[(2, Some(4))]), u128::MAX, 2);
    assert_eq!(store.change_floods(other.clone()).await.unwrap(), BatchOutcome::OtherRequest);
    assert_eq!(all(&*store).await, before);
    // A key belongs to one credential, and only keys of successful requests count.
    done(store.change_floods(BatchRequest { by: by("other desk"), ..other.clone() }).await.unwrap());
    let failing = requested(set(&[(99, None)]), 7, 3);
    assert_eq!(store.change_floods(failing).await.unwrap(), BatchOutcome::NoSuchAreas(vec![id(99)]));
    done(store.change_floods(requested(set(&[(2, None)]), 7, 4)).await.unwrap());
    clock.set(now().saturating_add(Duration::from_hours(25)));
    done(store.change_floods(other).await.unwrap());
}

pub async fn exactly_one_concurrent_request_with_a_key_is_executed(fresh: &dyn FreshStore) {
    let store = fresh.open(Arc::new(TickingClock::default())).await;
    let before = log(&*store, FloodLogQuery::default()).await.len();
    let sent = (0..10).map(|_| {
        let store = Arc::clone(&store);
        let order = requested(set(&[(1, Some(1)), (2, Some(2))]), 5, 1);
        tokio::spawn(async move { store.change_floods(order).await.unwrap() })
    });
    let outcomes: Vec<_> = join_all(sent).await.into_iter().map(Result::unwrap).collect();
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
    assert_eq!(log(&*store, FloodLogQuery::default()).await.len(), before + 2);
}

pub async fn exactly_one_concurrent_batch_with_the_same_precondition_succeeds(fresh: &dyn FreshStore) {
    let store = fresh.open(Arc::new(TickingClock::default())).await;
    let before = store.flood_log(id(1)).await.unwrap().len();
    for round in 0..5 {
        let after = match store.flood_states(&FloodQuery::default()).await.unwrap().value.first() {
            Some(record) if record.area_id == id(1) => Condition::SetAt(record.last_updated),
            _ => Condition::Dry,
        };
        let sent = (0..8).map(|number| {
            let store = Arc::clone(&store);
            // Each task changes another area alone, then area 1 and the other area in a batch. All tasks run at the same time.
            let own = [2, 5, 10, 30][number % 4];
            let changes = vec![area(own, Some(2), Condition::Any), area(1, Some(1 + round % 4), after)];
            let single = SetFloodState {
                area: id(own),
                state: Some(state(3)),
                by: by("gauge"),
                limit: AreaLimit::Everywhere,
            };
            tokio::spawn(async move {
                store.set_flood_state(single).await.unwrap();
                store.change_floods(order(BatchOperation::Set(changes))).await.unwrap()
            })
        });
        let outcomes: Vec<_> = join_all(sent).await.into_iter().map(Result::unwrap).collect();
        let made = outcomes.iter().filter(|outcome| matches!(outcome, BatchOutcome::Done { .. })).count();
        assert_eq!(made, 1, "round {round}: {outcomes:?}");
    }
    assert_eq!(store.flood_log(id(1)).await.unwrap().len(), before + 5);
}

pub async fn an_undo_restores_the_previous_states(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = states(&*store).await;
    let batch = done(store.change_floods(set(&[(1, Some(1)), (5, Some(4)), (30, None)])).await.unwrap());
    let undone = done(store.change_floods(undo(&batch)).await.unwrap());
    assert_eq!(undone.undoes, Some(batch.number));
    assert_eq!(undone.changes, [(id(1), None), (id(5), Some(state(2))), (id(30), Some(state(3)))]);
    assert_eq!(states(&*store).await, before);
    let stored = all(&*store).await;
    let again = BatchRequest { by: by("another officer"), ..undo(&batch) };
    assert_eq!(done(store.change_floods(again).await.unwrap()), undone);
    assert_eq!(all(&*store).await, stored);
    // An undo can be undone.
    done(store.change_floods(undo(&undone)).await.unwrap());
    assert_eq!(states(&*store).await, [(1, 1), (5, 4)]);
}

pub async fn an_undo_skips_areas_that_have_changed_since(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let batch = done(store.change_floods(set(&[(1, Some(1)), (2, Some(1)), (5, None)])).await.unwrap());
    done(store.change_floods(set(&[(2, Some(3))])).await.unwrap());
    // Confirming the same state is a change too.
    done(store.change_floods(set(&[(1, Some(1))])).await.unwrap());
    for _ in 0..2 {
        let BatchOutcome::Done { batch: undone, left } = store.change_floods(undo(&batch)).await.unwrap()
        else {
            panic!("not undone");
        };
        assert_eq!((undone.changes.clone(), left), (vec![(id(5), Some(state(2)))], vec![id(1), id(2)]));
    }
    assert_eq!(states(&*store).await, [(1, 1), (2, 3), (5, 2), (30, 3)]);
}

pub async fn an_unknown_or_old_batch_is_not_undone(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let unknown = order(BatchOperation::Undo(BatchNumber::try_from(7).unwrap()));
    assert_eq!(store.change_floods(unknown).await.unwrap(), BatchOutcome::NoSuchBatch);
    let batch = done(store.change_floods(set(&[(1, Some(1))])).await.unwrap());
    let before = all(&*store).await;
    clock.set(now().saturating_add(Duration::from_mins(24 * 60 + 1)));
    assert_eq!(store.change_floods(undo(&batch)).await.unwrap(), BatchOutcome::TooOld);
    assert_eq!(all(&*store).await, before);
}

pub async fn a_preview_changes_nothing(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = all(&*store).await;
    let preview = BatchRequest { preview: true, ..set(&[(1, Some(1)), (5, None)]) };
    let shown = done(store.change_floods(preview).await.unwrap());
    assert_eq!(shown.changes, [(id(1), Some(state(1))), (id(5), None)]);
    assert_eq!(all(&*store).await, before);
    let unknown = BatchRequest { preview: true, ..set(&[(99, None)]) };
    assert_eq!(store.change_floods(unknown).await.unwrap(), BatchOutcome::NoSuchAreas(vec![id(99)]));
}

pub async fn the_log_of_all_areas_is_read_newest_first_in_pages(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let old = log(&*store, FloodLogQuery::default()).await;
    for hour in 1..=4 {
        clock.set(now().saturating_add(Duration::from_hours(hour)));
        done(store.change_floods(set(&[(2, Some(hour)), (1, Some(hour)), (10, None)])).await.unwrap());
    }
    let single = SetFloodState { area: id(30), state: None, by: by("gauge"), limit: AreaLimit::Everywhere };
    store.set_flood_state(single).await.unwrap();
    let whole = log(&*store, FloodLogQuery::default()).await;
    assert_eq!(whole.len(), old.len() + 13);
    assert!(whole.ends_with(&old));
    let keys: Vec<_> =
        whole.iter().map(|entry| (std::cmp::Reverse(entry.change.at), entry.change.area)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    // A page never ends between two entries with the same time.
    let mut read: Vec<LoggedChange> = Vec::new();
    while let page = log(
        &*store,
        FloodLogQuery {
            before: read.last().map(|entry| entry.change.at),
            most: 4,
            ..FloodLogQuery::default()
        },
    )
    .await
        && !page.is_empty()
    {
        assert!(page.len() <= 4 + 3, "{}", page.len());
        read.extend(page);
    }
    assert_eq!(read, whole);
    let found = |query| {
        let store = Arc::clone(&store);
        async move {
            log(&*store, query).await.into_iter().map(|entry| entry.change.area.number()).collect::<Vec<_>>()
        }
    };
    let hour = |hour| Some(now().saturating_add(Duration::from_hours(hour)));
    let between = FloodLogQuery { since: hour(2), until: hour(3), ..FloodLogQuery::default() };
    assert_eq!(found(between.clone()).await, [1, 2, 10, 1, 2, 10]);
    let batch = whole.iter().find(|entry| Some(entry.change.at) == hour(3)).unwrap().batch;
    assert_eq!(found(FloodLogQuery { batch, ..FloodLogQuery::default() }).await, [1, 2, 10]);
    assert_eq!(
        found(FloodLogQuery { batch, until: hour(2), ..FloodLogQuery::default() }).await,
        [] as [u64; 0]
    );
    let unknown = BatchNumber::try_from(99).unwrap();
    assert_eq!(
        found(FloodLogQuery { batch: Some(unknown), ..FloodLogQuery::default() }).await,
        [] as [u64; 0]
    );
    let by = |by: &str| FloodLogQuery { by: Some(by.to_owned()), ..FloodLogQuery::default() };
    assert_eq!(found(by("gauge")).await, [30]);
    assert_eq!(found(by("Sri")).await.len(), 13);
    assert_eq!(found(by("nobody")).await, [] as [u64; 0]);
    let never = FloodLogQuery { since: Some(Timestamp::LAST), ..FloodLogQuery::default() };
    assert_eq!(found(never).await, [] as [u64; 0]);
}
