//! Limits of requests to areas.

use std::time::Duration;

use super::moderation::waiting_reports_at;
use super::{FreshStore, open};
use crate::fixture::{areas, id, now, state};
use siaga::model::{
    Actor, AreaId, AreaLimit, AreaRule, BatchItem, BatchNumber, BatchOperation, BatchOutcome, BatchRequest,
    Condition, HiddenReports, HideWaiting, Moderation, ModerationAction, PlaceNames, RequestKey, SenderHash,
};
use siaga::stores::{FloodLogQuery, FloodQuery, Resource, SetFloodState, Store, StoreError, WaitingQuery};

fn actor() -> Actor {
    Actor { subject: "district".to_owned(), username: Some("Sri".to_owned()) }
}

/// Returns a rule from pairs of key and value.
fn rule(pairs: &[(&str, &str)]) -> AreaRule {
    let values =
        |key| pairs.iter().filter(|(of, _)| *of == key).map(|(_, value)| (*value).to_owned()).collect();
    AreaRule::new(AreaRule::KEYS.map(values)).unwrap()
}

fn within(pairs: &[(&str, &str)]) -> AreaLimit {
    AreaLimit::Within([rule(pairs)].into())
}

fn grogol() -> AreaLimit {
    within(&[("parent", "Grogol")])
}

fn single(area: u64, limit: AreaLimit) -> SetFloodState {
    SetFloodState { area: id(area), state: Some(state(1)), by: actor(), limit }
}

fn batch(changes: &[(u64, Option<u64>)], limit: AreaLimit) -> BatchRequest {
    let item = |(area, code): &(u64, Option<u64>)| BatchItem {
        area: id(*area),
        state: code.map(state),
        after: Condition::Any,
    };
    let changes = BatchOperation::Set(changes.iter().map(item).collect());
    BatchRequest { changes, by: actor(), limit, note: None, request: None, preview: false }
}

fn undo(number: BatchNumber, limit: AreaLimit) -> BatchRequest {
    BatchRequest { changes: BatchOperation::Undo(number), ..batch(&[], limit) }
}

/// Stores a batch without a limit, and returns its number.
async fn stored(store: &dyn Store, changes: &[(u64, Option<u64>)]) -> BatchNumber {
    match store.change_floods(batch(changes, AreaLimit::Everywhere)).await.unwrap() {
        BatchOutcome::Done { batch, .. } => batch.number,
        outcome => panic!("{outcome:?}"),
    }
}

async fn states(store: &dyn Store) -> Vec<(AreaId, u8)> {
    let records = store.flood_states(&FloodQuery::default()).await.unwrap().value;
    records.iter().map(|record| (record.area_id, record.state.code())).collect()
}

/// Returns all that must stay the same if nothing is stored.
async fn everything(store: &dyn Store) -> (Vec<(AreaId, u8)>, usize, u64) {
    let query = FloodLogQuery { most: 1_000, ..FloodLogQuery::default() };
    let log = store.all_flood_changes(&query).await.unwrap().len();
    (states(store).await, log, store.revision(Resource::Floods).await.unwrap().0)
}

fn outside(numbers: &[u64]) -> BatchOutcome {
    BatchOutcome::OutsideLimit(numbers.iter().copied().map(id).collect())
}

pub async fn a_state_outside_of_the_limit_is_refused_and_nothing_changes(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert!(store.enforces_limits().await);
    for (limit, inside) in [
        (grogol(), &[1, 5][..]),
        (within(&[("city_name", "jakarta barat"), ("province", "ID-JK")]), &[1, 2, 5, 10]),
        (within(&[("city", "bdg"), ("city", "sby")]), &[30]),
        (within(&[("city", "bdg"), ("parent", "GROGOL")]), &[]),
        (within(&[("parent", "köln, été")]), &[2]),
        (AreaLimit::Within([rule(&[("city", "bdg")]), rule(&[("parent", "PULAU")])].into()), &[10, 30]),
        (AreaLimit::Within([].into()), &[]),
        (AreaLimit::Everywhere, &[1, 2, 5, 10, 30]),
    ] {
        for area in [1, 2, 5, 10, 30] {
            let before = everything(&*store).await;
            match store.set_flood_state(single(area, limit.clone())).await {
                Ok(_) => assert!(inside.contains(&area), "{area} in {limit:?}"),
                Err(StoreError::OutsideLimit { areas }) => {
                    assert!(!inside.contains(&area), "{area} in {limit:?}");
                    assert_eq!(areas, [id(area)]);
                    assert_eq!(everything(&*store).await, before);
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

pub async fn an_unknown_area_is_reported_before_the_limit(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let error = store.set_flood_state(single(99, grogol())).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    let outcome = store.change_floods(batch(&[(99, None), (30, None)], grogol())).await.unwrap();
    assert_eq!(outcome, BatchOutcome::NoSuchAreas(vec![id(99)]));
    let number = 99.try_into().unwrap();
    assert_eq!(store.change_floods(undo(number, grogol())).await.unwrap(), BatchOutcome::NoSuchBatch);
}

pub async fn no_area_outside_of_the_limit_changes_in_any_batch(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let limits = [
        grogol(),
        within(&[("province", "ID-JB")]),
        AreaLimit::Within([rule(&[("parent", "PULAU")]), rule(&[("city", "bdg")])].into()),
    ];
    let areas = areas();
    let mut random = 4_711_u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    let mut refused = 0;
    for turn in 0..60 {
        clock.set(now().saturating_add(Duration::from_secs(turn)));
        let limit = &limits[below(3) as usize];
        let mut changes: Vec<(u64, Option<u64>)> = Vec::new();
        for area in [30, 1, 10, 2, 5] {
            if below(3) == 0 {
                changes.push((area, Some(below(5)).filter(|code| *code > 0)));
            }
        }
        let is_outside = |(area, _): &&(u64, Option<u64>)| {
            let area = &areas[areas.position(id(*area)).unwrap()];
            !limit.contains(&PlaceNames::from(area))
        };
        let mut beyond: Vec<u64> = changes.iter().filter(is_outside).map(|(area, _)| *area).collect();
        beyond.sort_unstable();
        let before = everything(&*store).await;
        let preview = below(4) == 0;
        let order = BatchRequest { preview, ..batch(&changes, limit.clone()) };
        match store.change_floods(order).await.unwrap() {
            BatchOutcome::Done { .. } => assert!(beyond.is_empty(), "{changes:?} in {limit:?}"),
            outcome => {
                refused += 1;
                assert_eq!(outcome, outside(&beyond), "{changes:?} in {limit:?}");
                assert_eq!(everything(&*store).await, before);
            }
        }
    }
    assert!(refused > 10, "{refused}");
}

pub async fn the_limit_is_checked_before_a_repeat_and_a_conflict(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let request = Some(RequestKey { id: 7, digest: [1; 32] });
    let order = BatchRequest { request, ..batch(&[(1, Some(2)), (30, Some(2))], AreaLimit::Everywhere) };
    store.change_floods(order.clone()).await.unwrap();
    let before = everything(&*store).await;
    let other = Some(RequestKey { id: 7, digest: [2; 32] });
    for request in [request, other] {
        let limited = BatchRequest { request, limit: grogol(), ..order.clone() };
        assert_eq!(store.change_floods(limited).await.unwrap(), outside(&[30]), "limited since");
    }
    let item = BatchItem { area: id(30), state: None, after: Condition::Dry };
    let conflict = BatchRequest { changes: BatchOperation::Set(vec![item]), ..batch(&[], grogol()) };
    assert_eq!(store.change_floods(conflict).await.unwrap(), outside(&[30]));
    assert_eq!(everything(&*store).await, before);
}

pub async fn an_undo_needs_every_area_of_its_batch(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let inside = stored(&*store, &[(1, Some(3)), (5, Some(3))]).await;
    let mixed = stored(&*store, &[(1, Some(4)), (30, Some(4))]).await;
    clock.set(now().saturating_add(Duration::from_secs(1)));
    // Undoing `mixed` would leave area 30 alone, but the batch has it.
    store.set_flood_state(single(30, AreaLimit::Everywhere)).await.unwrap();
    let before = everything(&*store).await;
    for preview in [true, false] {
        let order = BatchRequest { preview, ..undo(mixed, grogol()) };
        assert_eq!(store.change_floods(order).await.unwrap(), outside(&[30]));
    }
    assert_eq!(everything(&*store).await, before);
    let outcome = store.change_floods(undo(inside, grogol())).await.unwrap();
    assert!(matches!(outcome, BatchOutcome::Done { .. }), "{outcome:?}");
    let elsewhere = within(&[("city", "bdg")]);
    let again = store.change_floods(undo(inside, elsewhere)).await.unwrap();
    assert_eq!(again, outside(&[1, 5]), "an undo that was made already");
}

pub async fn a_report_outside_of_the_limit_is_not_moderated(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let moderation = |report: u64, action, limit: &AreaLimit| Moderation {
        report: report.try_into().unwrap(),
        made_at: None,
        action,
        by: actor(),
        limit: limit.clone(),
        reason: "test".to_owned(),
    };
    // Report 2 is in area 30, and report 5 in the city sby, outside of all areas.
    for (limit, inside) in [
        (grogol(), &[1, 6, 7][..]),
        (within(&[("city", "SBY")]), &[5]),
        (within(&[("city", "sby"), ("city_name", "JAKARTA BARAT")]), &[]),
        (within(&[("province", "ID-JB")]), &[2]),
        (within(&[("province", "ID-JK"), ("city", "jbd")]), &[1, 6, 7]),
        (AreaLimit::Within([].into()), &[]),
    ] {
        for report in [1, 2, 5, 6, 7] {
            let before = store.revision(Resource::Reports).await.unwrap();
            let hidden = store.moderate(&moderation(report, ModerationAction::Hide, &limit)).await;
            if inside.contains(&report) {
                assert!(hidden.unwrap(), "{report} in {limit:?}");
                assert!(store.moderate(&moderation(report, ModerationAction::Show, &limit)).await.unwrap());
                continue;
            }
            let erased = store.moderate(&moderation(report, ModerationAction::Erase, &limit)).await;
            for error in [hidden.unwrap_err(), erased.unwrap_err()] {
                let StoreError::OutsideLimit { areas } = error else { panic!("{error:?}") };
                assert_eq!(areas.len(), usize::from(report != 5), "{report} in {limit:?}");
            }
            assert_eq!(store.revision(Resource::Reports).await.unwrap(), before);
        }
    }
    let unknown = store.moderate(&moderation(99, ModerationAction::Hide, &grogol())).await.unwrap_err();
    assert!(matches!(unknown, StoreError::NotFound { .. }), "{unknown:?}");
}

pub async fn hiding_the_reports_of_a_sender_leaves_those_outside_of_the_limit(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let keys = waiting_reports_at(&*store, &[(0.5, 0.5), (3.5, 0.5), (0.5, 1.5), (40.0, 40.0)]).await;
    let sender = SenderHash::new([1; 8]);
    let order = |limit| HideWaiting { sender, by: actor(), limit, reason: "spam".to_owned() };
    let hidden = store.hide_waiting(&order(grogol())).await.unwrap();
    assert_eq!(hidden, HiddenReports { hidden: vec![keys[0], keys[2]], left: 2 });
    let waiting = store.waiting_reports(WaitingQuery { most: 10, per_sender: 10 }).await.unwrap();
    assert_eq!(waiting.total, 2);
    let rest = store.hide_waiting(&order(AreaLimit::Everywhere)).await.unwrap();
    assert_eq!(rest, HiddenReports { hidden: vec![keys[1], keys[3]], left: 0 });
}
