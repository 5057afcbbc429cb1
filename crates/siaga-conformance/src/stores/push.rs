//! Push subscriptions.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::now;
use siaga::model::Timestamp;
use siaga::stores::{NewPushRecord, PushRecord, PushUpdate, Store};

const MAX: u64 = 1_000;

fn content(name: &str, due: Option<u64>) -> NewPushRecord {
    NewPushRecord {
        endpoint: format!("https://push.example/{name}"),
        service: "push.example".to_owned(),
        due: due.map(at),
        text: format!("\u{1f30a} \"{name}\""),
    }
}

fn at(seconds: u64) -> Timestamp {
    now().saturating_add(Duration::from_secs(seconds))
}

async fn put(store: &dyn Store, name: &str, due: Option<u64>) -> PushRecord {
    let id = store.put_push_record(content(name, due), MAX).await.unwrap().unwrap();
    store.push_record(id).await.unwrap().unwrap()
}

fn ids(records: &[PushRecord]) -> Vec<u64> {
    records.iter().map(|record| record.id).collect()
}

pub async fn a_push_record_is_stored_unchanged_and_listed_in_pages(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(store.push_record(1).await.unwrap(), None);
    let mut stored = Vec::new();
    for (name, due) in [("a", None), ("b", Some(7)), ("c", None)] {
        let record = put(&*store, name, due).await;
        assert_eq!((record.version, &record.content), (1, &content(name, due)));
        stored.push(record);
    }
    assert_eq!(store.count_push_records().await.unwrap(), 3);
    assert_eq!(store.push_records(0, 9).await.unwrap(), stored);
    assert_eq!(store.push_records(0, 2).await.unwrap(), stored[..2]);
    assert_eq!(store.push_records(stored[1].id, 2).await.unwrap(), stored[2..]);
    assert_eq!(store.push_records(u64::from(u32::MAX), 2).await.unwrap(), []);
}

pub async fn an_endpoint_has_one_push_record_and_the_maximum_counts_others(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let first = put(&*store, "a", None).await;
    put(&*store, "b", None).await;
    assert_eq!(store.put_push_record(content("c", None), 2).await.unwrap(), None, "it is full");
    let other = NewPushRecord { text: "{}".to_owned(), ..content("a", Some(1)) };
    assert_eq!(store.put_push_record(other.clone(), 2).await.unwrap(), Some(first.id));
    let expected = PushRecord { id: first.id, version: 2, content: other };
    assert_eq!(store.push_record(first.id).await.unwrap(), Some(expected));
    assert_eq!(store.count_push_records().await.unwrap(), 2);
}

pub async fn due_push_records_are_those_of_the_service_the_longest_due_first(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut all = Vec::new();
    for (name, due) in [("a", Some(30)), ("b", None), ("c", Some(10)), ("d", Some(20)), ("e", Some(20))] {
        all.push(put(&*store, name, due).await.id);
    }
    let other = NewPushRecord { service: "other.example".to_owned(), ..content("f", Some(0)) };
    store.put_push_record(other, MAX).await.unwrap();
    let due = async |until: u64, most: u32| {
        ids(&store.due_push_records("push.example", at(until), most).await.unwrap())
    };
    assert!(due(9, 9).await.is_empty());
    assert_eq!(due(20, 9).await, [all[2], all[3], all[4]]);
    assert_eq!(due(99, 2).await, [all[2], all[3]]);
    assert_eq!(store.due_push_records("third.example", at(99), 9).await.unwrap(), []);
}

pub async fn push_records_are_changed_and_removed_only_at_the_version_that_was_read(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let [a, b, c] =
        [put(&*store, "a", Some(1)).await, put(&*store, "b", Some(1)).await, put(&*store, "c", None).await];
    let update = |record: &PushRecord, version, content| PushUpdate { id: record.id, version, content };
    let updates = vec![
        update(&c, 1, None),
        update(&a, 1, Some(content("a", Some(5)))),
        update(&b, 2, None),
        PushUpdate { id: c.id + 999, version: 1, content: None },
    ];
    assert_eq!(store.update_push_records(updates).await.unwrap(), [a.id, c.id]);
    let changed = PushRecord { version: 2, content: content("a", Some(5)), ..a.clone() };
    assert_eq!(store.push_records(0, 9).await.unwrap(), [changed, b.clone()]);
    assert_eq!(ids(&store.due_push_records("push.example", at(2), 9).await.unwrap()), [b.id]);
    let taken = vec![update(&b, 1, Some(content("a", None)))];
    assert!(store.update_push_records(taken).await.unwrap().is_empty(), "another record has this endpoint");
    let moved = vec![update(&b, 1, Some(content("d", None))), update(&a, 2, None)];
    assert_eq!(store.update_push_records(moved).await.unwrap(), [a.id, b.id]);
    assert_eq!(store.push_record(b.id).await.unwrap().unwrap().content, content("d", None));
    assert!(store.update_push_records(Vec::new()).await.unwrap().is_empty());
    assert_eq!(store.count_push_records().await.unwrap(), 1);
}

pub async fn exactly_one_concurrent_change_of_a_push_record_succeeds(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let record = put(&*store, "a", None).await;
    let changing = (0..8).map(|number| {
        let (store, id) = (Arc::clone(&store), record.id);
        let content = NewPushRecord { text: number.to_string(), ..record.content.clone() };
        tokio::spawn(async move {
            let update = PushUpdate { id, version: 1, content: Some(content) };
            store.update_push_records(vec![update]).await.unwrap().len()
        })
    });
    let changed: usize = join_all(changing).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(changed, 1);
    let putting = (0..8).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.put_push_record(content("b", None), MAX).await.unwrap() })
    });
    let put: Vec<_> = join_all(putting).await.into_iter().map(Result::unwrap).collect();
    assert!(put.iter().all(|id| id.is_some() && *id == put[0]), "{put:?}");
    assert_eq!(store.count_push_records().await.unwrap(), 2);
}
