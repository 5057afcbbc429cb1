//! Feeds from partners.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::{content, partner_posts, place};
use siaga::model::bodies::PartnerReport;
use siaga::model::{AreaSelector, DisasterType};
use siaga::stores::{ReceiveOutcome, ReportQuery, Resource, Store, Window};

fn post(post_id: i64) -> PartnerReport {
    PartnerReport { post_id, content: content(DisasterType::Flood, 0, place(0.5, 0.5)) }
}

async fn new_reports(store: &dyn Store) -> usize {
    let window = Window::Last(Duration::from_mins(1));
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    store.reports(&query).await.unwrap().value.reports.len()
}

pub async fn a_post_is_published_once(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for (post_id, expected) in [
        (7, ReceiveOutcome::Created),
        (7, ReceiveOutcome::Existing),
        (i64::MIN, ReceiveOutcome::Created),
        (i64::MAX, ReceiveOutcome::Created),
    ] {
        assert_eq!(store.receive_partner_report(post(post_id)).await.unwrap(), expected, "{post_id}");
    }
    assert_eq!(new_reports(&*store).await, 3);
    let revision = store.revision(Resource::Reports).await.unwrap();
    store.receive_partner_report(post(7)).await.unwrap();
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), revision, "nothing changed");
}

pub async fn a_post_of_the_data_set_is_not_stored_again(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let revision = store.revision(Resource::Reports).await.unwrap();
    for known in partner_posts() {
        let received = store.receive_partner_report(post(known.post_id)).await.unwrap();
        assert_eq!(received, ReceiveOutcome::Existing, "{}", known.post_id);
    }
    assert_eq!(new_reports(&*store).await, 0);
    assert_eq!(store.revision(Resource::Reports).await.unwrap(), revision, "nothing changed");
}

pub async fn exactly_one_concurrent_post_with_an_id_is_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let sent = (0..100).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.receive_partner_report(post(number % 5)).await })
    });
    let results = join_all(sent).await.into_iter().map(|result| result.unwrap().unwrap());
    assert_eq!(results.filter(|received| *received == ReceiveOutcome::Created).count(), 5);
    assert_eq!(new_reports(&*store).await, 5);
}
