//! Health checks.

use super::{FreshStore, open};

pub async fn a_responsive_store_is_ready(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let checks = store.readiness().await;
    assert_eq!(checks.first().map(|check| check.name), Some("store"));
    assert!(checks.iter().all(|check| check.failure.is_none()), "{checks:?}");
}
