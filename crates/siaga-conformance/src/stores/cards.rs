//! Cards and their reports.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::{cards, content, now, place};
use siaga::model::{AreaId, AreaSelector, CardId, DisasterType};
use siaga::stores::{ReportQuery, Resource, Store, StoreError, Window};

fn card(id: &str) -> CardId {
    id.parse().unwrap()
}

async fn report_count(store: &dyn Store) -> usize {
    let window = Window::Last(Duration::from_hours(3));
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    store.reports(&query).await.unwrap().value.reports.len()
}

pub async fn a_new_card_has_an_identifier_of_its_own_and_no_report(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let holder = cards()[0].holder.clone();
    let revision = store.revision(Resource::Reports).await.unwrap();
    let mut ids = HashSet::new();
    for _ in 0..50 {
        let made = store.create_card(holder.clone()).await.unwrap();
        let found = store.card(&made.id).await.unwrap();
        assert_eq!((found.pkey, &found.id, found.report), (made.pkey, &made.id, None));
        assert_eq!(found.holder.username, holder.username);
        assert!(made.id.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert!(ids.insert((made.pkey, made.id.clone())));
    }
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), revision, "no report changed");
}

pub async fn a_chosen_card_identifier_is_used_once(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let (id, holder) = (card("chosen-card-01"), cards()[0].holder.clone());
    let creating = (0..8).map(|_| {
        let (store, id, holder) = (Arc::clone(&store), id.clone(), holder.clone());
        tokio::spawn(async move { store.create_card_as(&id, holder).await })
    });
    let results: Vec<_> = join_all(creating).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let is_conflict = |result: &Result<_, StoreError>| matches!(result, Err(StoreError::Conflict { .. }));
    assert_eq!(results.iter().filter(|result| is_conflict(result)).count(), 7);
    let found = store.card(&id).await.unwrap();
    assert_eq!((&found.id, found.report, &found.holder.username), (&id, None, &holder.username));
    let used = store.create_card_as(&card("used-card"), holder).await;
    assert!(matches!(used, Err(StoreError::Conflict { .. })), "{used:?}");
}

pub async fn an_unknown_card_is_not_found(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let error = store.card(&card("no-such-card")).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let error = store.receive_card_report(&card("no-such-card"), content).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
}

pub async fn a_card_report_is_published_with_its_tags_and_marks_the_card(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Reports).await.unwrap();
    let sent = content(DisasterType::Flood, 1, place(1.5, 0.5));
    let report = store.receive_card_report(&card("fresh-card"), sent).await.unwrap();
    assert_eq!(report.key.number(), 9, "the next after all others");
    assert_eq!(report.tags.local_area_id.map(AreaId::number), Some(2));
    assert_eq!(report.tags.instance_region_code.as_deref(), Some("ID-JK"));
    assert_eq!(report.tags.district_id.as_deref(), Some("3174"), "an attribute of the area");
    assert_eq!(store.card(&card("fresh-card")).await.unwrap().report, Some(report.key));
    let found = store.report(report.key).await.unwrap();
    assert_eq!(found.value.content.text, report.content.text);
    assert_eq!(found.value.tags, report.tags);
    let data = |report: &siaga::model::Report| {
        let data = report.content.report_data.as_ref().unwrap().get();
        serde_json::from_str::<serde_json::Value>(data).unwrap()
    };
    assert_eq!(data(&found.value), data(&report));
    assert!(found.revision > before);
}

pub async fn a_second_report_for_a_card_is_a_conflict_and_not_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let (before, revision) = (report_count(&*store).await, store.revision(Resource::Reports).await.unwrap());
    let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let error = store.receive_card_report(&card("used-card"), content).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
    assert_eq!(report_count(&*store).await, before);
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), revision);
}

pub async fn exactly_one_concurrent_report_for_a_card_is_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = report_count(&*store).await;
    let sent = (0..100).map(|_| {
        let store = Arc::clone(&store);
        let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
        tokio::spawn(async move { store.receive_card_report(&card("fresh-card"), content).await })
    });
    let results = join_all(sent).await.into_iter().map(Result::unwrap);
    let (stored, refused): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
    assert_eq!((stored.len(), refused.len()), (1, 99));
    let conflict = |result: &Result<_, _>| matches!(result, Err(StoreError::Conflict { .. }));
    assert!(refused.iter().all(conflict));
    assert_eq!(report_count(&*store).await, before + 1);
}

pub async fn exactly_one_concurrent_image_of_a_report_is_published(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Reports).await.unwrap();
    for without_report in ["no-such-card", "fresh-card"] {
        assert!(!store.show_card_image(&card(without_report), "a.jpg").await.unwrap());
    }
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), before);
    let showing = (0..20).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let image = format!("{number}.jpg");
            store.show_card_image(&card("used-card"), &image).await.unwrap().then_some(image)
        })
    });
    let shown: Vec<_> = join_all(showing).await.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let report = store.card(&card("used-card")).await.unwrap().report.unwrap();
    let report = store.report(report).await.unwrap();
    assert_eq!(report.value.content.image_url.as_deref(), Some(shown[0].as_str()));
    assert_eq!(report.revision.0, before.0 + 1, "one change of reports");
}

pub async fn unused_cards_are_erased_by_creation_time(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let hour = |hours| now().saturating_add(Duration::from_hours(hours));
    let mut made = Vec::new();
    for hours in 1..=5 {
        clock.set(hour(hours));
        made.push(store.create_card(cards()[0].holder.clone()).await.unwrap().id.clone());
    }
    let sent = || content(DisasterType::Flood, 1, place(0.5, 0.5));
    store.receive_card_report(&made[1], sent()).await.unwrap();
    let revision = store.revision(Resource::Reports).await.unwrap();
    let left = async || {
        let mut left = Vec::new();
        for (index, card) in made.iter().enumerate() {
            match store.card(card).await {
                Ok(_) => left.push(index),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        left
    };
    let erase = async |from, until, most| store.erase_unused_cards(from..until, most).await.unwrap();
    assert_eq!(erase(hour(1), hour(1), 10).await, 0);
    assert_eq!(erase(hour(5), hour(1), 10).await, 0);
    assert_eq!((erase(hour(1), hour(5), 1).await, left().await), (1, vec![1, 2, 3, 4]));
    assert_eq!((erase(hour(4), hour(5), 10).await, left().await), (1, vec![1, 2, 4]));
    assert_eq!(
        (erase(hour(1), hour(5), 10).await, left().await),
        (1, vec![1, 4]),
        "one is used, one is newer"
    );
    assert_eq!(erase(hour(1), hour(5), 10).await, 0);
    assert!(store.card(&card("fresh-card")).await.is_ok(), "it is older");
    assert_eq!(
        (erase(hour(0), hour(1), 10).await, store.card(&card("fresh-card")).await.is_ok()),
        (1, false)
    );
    assert!(store.card(&card("used-card")).await.is_ok());
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), revision, "no report changed");
    let error = store.receive_card_report(&made[0], sent()).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
}
