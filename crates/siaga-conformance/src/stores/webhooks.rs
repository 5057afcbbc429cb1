//! States of webhooks, and the order in which webhooks read reports.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::now;
use siaga::model::{AreaSelector, DisasterType, ReportKey};
use siaga::stores::{ReportQuery, Store, WebhookState, Window};

async fn stored(store: &dyn Store, name: &str) -> Option<(u64, String)> {
    store.webhook_states().await.unwrap().remove(name).map(|WebhookState { version, text }| (version, text))
}

pub async fn a_webhook_state_is_replaced_only_with_its_version(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert!(store.webhook_states().await.unwrap().is_empty());
    assert!(!store.put_webhook_state("thanks", 1, "early").await.unwrap(), "nothing is stored yet");
    assert!(store.put_webhook_state("thanks", 0, "first").await.unwrap());
    assert!(!store.put_webhook_state("thanks", 0, "again").await.unwrap());
    assert!(store.put_webhook_state("other", 0, "\u{1f30a} \"'").await.unwrap());
    assert!(store.put_webhook_state("thanks", 1, "second").await.unwrap());
    assert!(!store.put_webhook_state("thanks", 1, "late").await.unwrap());
    assert_eq!(stored(&*store, "thanks").await, Some((2, "second".to_owned())));
    assert_eq!(stored(&*store, "other").await, Some((1, "\u{1f30a} \"'".to_owned())));
}

pub async fn exactly_one_concurrent_replacement_succeeds(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for version in 0..3 {
        let trying = (0..8).map(|server| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                store
                    .put_webhook_state("lease", version, &server.to_string())
                    .await
                    .unwrap()
                    .then_some(server)
            })
        });
        let done = join_all(trying).await;
        let done: Vec<_> = done.into_iter().filter_map(|server| server.unwrap()).collect();
        assert_eq!(done.len(), 1, "{done:?}");
        assert_eq!(stored(&*store, "lease").await, Some((version + 1, done[0].to_string())));
    }
}

pub async fn reports_are_read_by_key_in_pages(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut known = Vec::new();
    for disaster in [None, Some(DisasterType::Prep)] {
        let (selector, window) = (AreaSelector::default(), Window::Last(Duration::MAX));
        let query = ReportQuery { selector, disaster, training: true, window };
        known.extend(store.reports(&query).await.unwrap().value.reports.iter().map(|report| report.key));
    }
    known.sort();
    assert!(known.len() > 3, "{known:?}");
    let (mut all, mut first) = (Vec::new(), Some(ReportKey::FIRST));
    while let Some(from) = first {
        let part = store.reports_from(Some(from), 2).await.unwrap();
        assert!(part.len() <= 2);
        first = part.last().and_then(|last| last.key.next());
        all.extend(part);
    }
    // Lists leave out reports dated in the future.
    all.retain(|report| report.content.created_at <= now());
    assert_eq!(all.iter().map(|report| report.key).collect::<Vec<_>>(), known);
    let last = store.reports_from(None, 1).await.unwrap();
    assert!(last.len() == 1 && last[0].key >= known[known.len() - 1], "{last:?}");
    assert!(store.reports_from(Some(ReportKey::LAST), 2).await.unwrap().is_empty());
}

pub async fn without_writes_there_are_no_open_transactions(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert!(store.open_writes().await.unwrap().is_empty());
}
