//! The times at which sources of data last reported.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::now;
use siaga::model::Timestamp;
use siaga::stores::Store;

fn at(millis: u64) -> Timestamp {
    now().saturating_add(Duration::from_millis(millis))
}

async fn last_heard(store: &dyn Store) -> Vec<(String, Timestamp)> {
    store.last_heard().await.unwrap().into_iter().collect()
}

pub async fn the_last_time_of_each_source_is_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(last_heard(&*store).await, []);
    store.heard("gauges-of-2", at(1)).await.unwrap();
    store.heard("desk", at(5)).await.unwrap();
    store.heard("desk", at(7)).await.unwrap();
    assert_eq!(last_heard(&*store).await, [("desk".to_owned(), at(7)), ("gauges-of-2".to_owned(), at(1))]);
}

pub async fn a_source_is_never_heard_earlier_than_it_was(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for millis in [5, 4, 5, 0] {
        store.heard("desk", at(millis)).await.unwrap();
        assert_eq!(last_heard(&*store).await, [("desk".to_owned(), at(5))], "{millis}");
    }
}

pub async fn the_latest_of_concurrent_times_is_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let heard = [7, 3, 19, 0, 11, 20, 2, 13].map(|millis| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.heard("desk", at(millis)).await })
    });
    for heard in join_all(heard).await {
        heard.unwrap().unwrap();
    }
    assert_eq!(last_heard(&*store).await, [("desk".to_owned(), at(20))]);
}
