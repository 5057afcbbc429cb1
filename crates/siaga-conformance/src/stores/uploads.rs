//! Received uploads as a work queue of servers.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::images::{LEASE, URL, card, card_with_report, minutes, received_upload, take};
use super::{FreshStore, open};
use siaga::model::{Clock, ManualClock, Upload};
use siaga::stores::{Store, TakenUpload};

fn move_on(clock: &ManualClock, by: Duration) {
    clock.set(clock.now().saturating_add(by));
}

async fn taken_object(store: &dyn Store) -> Option<String> {
    take(store).await.map(|taken| taken.object.into_string())
}

pub async fn exactly_one_concurrent_reception_succeeds(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    // A store with a connection pool may open its connections during the first round.
    for _ in 0..10 {
        let upload = store.expect_image(&card_with_report(&*store).await, minutes(10)).await.unwrap();
        let receiving = (0..50).map(|number| {
            let (store, upload, object) = (Arc::clone(&store), upload.clone(), format!("object-{number}"));
            tokio::spawn(async move {
                let is_received = store.receive_upload(&upload, &object).await.unwrap();
                is_received.then_some(object)
            })
        });
        let answers = join_all(receiving).await.into_iter().filter_map(Result::unwrap);
        let objects: Vec<String> = answers.collect();
        assert_eq!(objects.len(), 1, "{objects:?}");
        assert_eq!(taken_object(&*store).await.as_ref(), objects.first());
        assert_eq!(take(&*store).await, None);
    }
}

pub async fn recording_a_received_upload_is_idempotent(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let upload = received_upload(&*store, "a").await;
    for _ in 0..3 {
        move_on(&clock, Duration::from_secs(1));
        assert!(store.receive_upload(&upload, "a").await.unwrap());
        assert!(!store.receive_upload(&upload, "b").await.unwrap());
    }
    assert_eq!(take(&*store).await.map(|taken| taken.attempt), Some(1));
    assert!(store.receive_upload(&upload, "a").await.unwrap());
    assert_eq!(take(&*store).await, None, "whoever has taken it has it still");
    move_on(&clock, LEASE);
    assert_eq!(take(&*store).await.map(|taken| taken.attempt), Some(2));
}

pub async fn an_upload_of_another_turn_is_not_received(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let upload = Upload { card: card("used-card"), turn: 0 };
    assert!(!store.receive_upload(&upload, "a").await.unwrap(), "before it is expected");
    store.expect_image(&upload.card, minutes(10)).await.unwrap();
    let next = Upload { turn: 1, ..upload.clone() };
    assert!(!store.receive_upload(&next, "a").await.unwrap());
    assert!(store.receive_upload(&upload, "a").await.unwrap());
    store.refuse_upload(&next).await.unwrap();
    store.postpone_upload(&next, LEASE).await.unwrap();
    assert!(!store.publish_image(&next, URL).await.unwrap());
    assert_eq!(taken_object(&*store).await.as_deref(), Some("a"), "nothing was done to the next");
    store.refuse_upload(&upload).await.unwrap();
    assert!(!store.receive_upload(&upload, "a").await.unwrap(), "it was refused");
    assert!(store.receive_upload(&next, "b").await.unwrap());
}

pub async fn received_uploads_are_taken_once_in_order_of_arrival(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let mut uploads = Vec::new();
    for _ in 0..6 {
        let card = card_with_report(&*store).await;
        uploads.push(store.expect_image(&card, minutes(10)).await.unwrap());
    }
    // Two uploads arrive at the same time. The store returns such uploads ordered by card.
    uploads.rotate_left(2);
    for moment in uploads.chunks_mut(2) {
        move_on(&clock, Duration::from_millis(1));
        for upload in moment.iter().rev() {
            assert!(store.receive_upload(upload, upload.card.as_str()).await.unwrap());
        }
        moment.sort_by(|one, other| one.card.cmp(&other.card));
    }
    for upload in uploads {
        let object = upload.card.as_str().into();
        assert_eq!(take(&*store).await, Some(TakenUpload { upload, object, attempt: 1 }));
    }
    assert_eq!(take(&*store).await, None);
}

pub async fn an_upload_can_be_taken_again_after_its_lease(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let upload = received_upload(&*store, "a").await;
    for attempt in 1..=3 {
        let taken = TakenUpload { upload: upload.clone(), object: "a".into(), attempt };
        assert_eq!(take(&*store).await, Some(taken));
        move_on(&clock, LEASE.checked_sub(Duration::from_millis(1)).unwrap());
        assert_eq!(take(&*store).await, None);
        move_on(&clock, Duration::from_millis(1));
    }
}

pub async fn a_postponed_upload_waits(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let first = received_upload(&*store, "first").await;
    move_on(&clock, Duration::from_secs(1));
    received_upload(&*store, "second").await;
    // The first upload is due again one second before the second lease of the other upload would end.
    let delay = (LEASE * 2).checked_sub(Duration::from_secs(1)).unwrap();
    store.postpone_upload(&first, delay).await.unwrap();
    assert_eq!(taken_object(&*store).await.as_deref(), Some("second"));
    assert_eq!(take(&*store).await, None);
    move_on(&clock, LEASE);
    assert_eq!(taken_object(&*store).await.as_deref(), Some("second"), "the first is due later");
    move_on(&clock, LEASE);
    for object in [Some("first"), Some("second"), None] {
        assert_eq!(taken_object(&*store).await.as_deref(), object);
    }
    store.postpone_upload(&first, Duration::ZERO).await.unwrap();
    assert_eq!(take(&*store).await.map(|taken| taken.attempt), Some(2), "a lease can be given up");
}

pub async fn after_a_refused_upload_the_next_turn_is_expected(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let first = received_upload(&*store, "a").await;
    let (card, second) = (first.card.clone(), Upload { turn: 1, ..first.clone() });
    assert_eq!(store.uploads_waiting().await.unwrap(), 1);
    take(&*store).await.unwrap();
    assert_eq!(store.uploads_waiting().await.unwrap(), 1, "also while somebody works on it");
    for _ in 0..2 {
        store.refuse_upload(&first).await.unwrap();
        assert_eq!(store.expected_upload(&card).await.unwrap().as_ref(), Some(&second));
    }
    assert_eq!(store.uploads_expected_until().await.unwrap(), Some(minutes(10)));
    assert_eq!(store.uploads_waiting().await.unwrap(), 0);
    assert_eq!(take(&*store).await, None);
    assert!(!store.publish_image(&first, URL).await.unwrap());
    assert_eq!(store.expect_image(&card, minutes(20)).await.unwrap(), second);
    assert!(store.receive_upload(&second, "a").await.unwrap(), "even as the same object");
    let taken = TakenUpload { upload: second, object: "a".into(), attempt: 1 };
    assert_eq!(take(&*store).await, Some(taken), "attempts are counted anew");
}

pub async fn concurrent_servers_take_each_upload_once(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for _ in 0..5 {
        let mut uploads = Vec::new();
        for number in 0..20 {
            uploads.push(received_upload(&*store, &format!("object-{number}")).await);
        }
        let taking = (0..50).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { take(&*store).await })
        });
        let answers = join_all(taking).await.into_iter().filter_map(Result::unwrap);
        let mut taken: Vec<Upload> = answers.map(|taken| taken.upload).collect();
        for uploads in [&mut taken, &mut uploads] {
            uploads.sort_by(|one, other| one.card.cmp(&other.card));
        }
        assert_eq!(taken, uploads);
    }
}
