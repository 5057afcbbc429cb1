//! What a store tells of itself, and its end.

use super::{FreshStore, open};

pub async fn a_store_that_answers_is_ready(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let checks = store.readiness().await;
    assert_eq!(checks.first().map(|check| check.name), Some("store"));
    assert!(checks.iter().all(|check| check.failure.is_none()), "{checks:?}");
}

pub async fn a_store_that_is_closed_holds_no_connections(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    store.readiness().await;
    store.close().await;
    assert!(store.pools().iter().all(|pool| pool.in_use + pool.idle == 0), "{:?}", store.pools());
}
