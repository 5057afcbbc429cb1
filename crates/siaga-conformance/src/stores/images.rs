//! Images of cards before and after their publication.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::{cards, content, now, place};
use siaga::auth::Secret;
use siaga::model::{AreaSelector, CardId, DisasterType, Report, ReportKey, Timestamp, Upload};
use siaga::stores::{ReportQuery, Resource, Revision, Store, StoreError, TakenUpload, Window};

pub(super) const LEASE: Duration = Duration::from_mins(2);
pub(super) const URL: &str = "http://example.org/used-card.jpg";

pub(super) fn card(id: &str) -> CardId {
    id.parse().unwrap()
}

pub(super) fn minutes(minutes: u64) -> Timestamp {
    now().saturating_add(Duration::from_mins(minutes))
}

pub(super) async fn card_with_report(store: &dyn Store) -> CardId {
    let made = store.create_card(cards()[0].holder.clone()).await.unwrap();
    let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
    store.receive_card_report(&made.id, content).await.unwrap();
    made.id.clone()
}

/// Creates a card with a received upload.
pub(super) async fn received_upload(store: &dyn Store, object: &str) -> Upload {
    let card = card_with_report(store).await;
    let upload = store.expect_image(&card, minutes(10)).await.unwrap();
    assert!(store.receive_upload(&upload, object).await.unwrap());
    upload
}

pub(super) async fn take(store: &dyn Store) -> Option<TakenUpload> {
    store.take_upload(LEASE).await.unwrap()
}

pub async fn all_servers_use_the_first_signing_key(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let keys: Vec<Secret> = (0..8).map(|number| format!("the key {number}").into()).collect();
    let known = join_all(keys.iter().map(|key| store.signing_key(key))).await;
    let known: Vec<Secret> = known.into_iter().map(Result::unwrap).collect();
    assert!(keys.contains(&known[0]) && known.iter().all(|key| key == &known[0]));
    for again in [&known[0], &"another".to_owned().into()] {
        assert!(store.signing_key(again).await.unwrap() == known[0]);
    }
}

async fn is_a_conflict(store: &dyn Store, card: &CardId) -> bool {
    match store.expect_image(card, minutes(60)).await {
        Err(StoreError::Conflict { what }) => what.contains(card.as_str()),
        _ => false,
    }
}

async fn revision(store: &dyn Store) -> Revision {
    store.revision(Resource::Reports).await.unwrap()
}

async fn shown_images(store: &dyn Store) -> Vec<(ReportKey, String)> {
    let window = Window::Last(Duration::from_hours(1));
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    let reports = store.reports(&query).await.unwrap().value.reports;
    let image = |report: &Arc<Report>| Some((report.key, report.content.image_url.clone()?.into()));
    reports.iter().filter_map(image).collect()
}

async fn image_of(store: &dyn Store, card: &CardId) -> Option<String> {
    let key = store.card(card).await.unwrap().report.unwrap();
    store.report(key).await.unwrap().value.content.image_url.clone().map(Into::into)
}

pub async fn an_unknown_card_is_not_found(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let error = store.expect_image(&card("no-such-card"), minutes(10)).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    assert_eq!(store.expected_upload(&card("no-such-card")).await.unwrap(), None);
    let upload = Upload { card: card("no-such-card"), turn: 0 };
    assert!(!store.receive_upload(&upload, "a").await.unwrap());
    assert!(!store.publish_image(&upload, URL).await.unwrap());
    store.postpone_upload(&upload, LEASE).await.unwrap();
    store.refuse_upload(&upload).await.unwrap();
}

pub async fn an_image_is_expected_only_after_the_report(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let id = card("fresh-card");
    assert!(is_a_conflict(&*store, &id).await);
    assert_eq!(store.uploads_expected_until().await.unwrap(), None);
    let sent = content(DisasterType::Flood, 1, place(0.5, 0.5));
    store.receive_card_report(&id, sent).await.unwrap();
    assert_eq!(store.expected_upload(&id).await.unwrap(), None);
    let upload = store.expect_image(&id, minutes(10)).await.unwrap();
    assert_eq!(upload, Upload { card: id.clone(), turn: 0 });
    assert_eq!(store.expected_upload(&id).await.unwrap(), Some(upload));
}

pub async fn an_early_upload_waits_for_the_report_of_its_card(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let id = card("fresh-card");
    let upload = store.expect_early_image(&id, minutes(10)).await.unwrap();
    assert_eq!(store.expect_early_image(&id, minutes(10)).await.unwrap(), upload);
    assert!(is_a_conflict(&*store, &id).await, "it is not early");
    assert!(!store.has_upload(&id).await.unwrap());
    assert!(store.receive_upload(&upload, "early").await.unwrap());
    assert!(store.has_upload(&id).await.unwrap());
    let again = store.expect_early_image(&id, minutes(10)).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    let later = received_upload(&*store, "later").await;
    clock.set(minutes(1));
    assert_eq!(take(&*store).await.unwrap().upload, later, "the other has no report to be shown with");
    assert_eq!(take(&*store).await, None);

    let sent = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let report = store.receive_card_report(&id, sent).await.unwrap();
    let taken = take(&*store).await.unwrap();
    assert_eq!((&taken.upload, &*taken.object, taken.attempt), (&upload, "early", 1));
    assert!(store.publish_image(&upload, URL).await.unwrap());
    assert_eq!(image_of(&*store, &id).await.as_deref(), Some(URL));
    assert_eq!(store.card(&id).await.unwrap().report, Some(report.key));
    assert!(store.has_upload(&id).await.unwrap());
}

pub async fn an_early_upload_is_erased_with_its_card(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let made = store.create_card(cards()[0].holder.clone()).await.unwrap();
    let upload = store.expect_early_image(&made.id, minutes(10)).await.unwrap();
    assert!(store.receive_upload(&upload, "early").await.unwrap());
    clock.set(minutes(1));
    assert!(store.erase_unused_cards(now()..minutes(1), 100).await.unwrap() > 0);
    assert!(!store.has_upload(&made.id).await.unwrap());
    let expected = store.expect_early_image(&made.id, minutes(10)).await;
    assert!(matches!(expected, Err(StoreError::NotFound { .. })), "{expected:?}");
}

pub async fn no_image_is_expected_for_a_report_with_an_image(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut sent = content(DisasterType::Flood, 1, place(0.5, 0.5));
    sent.image_url = Some(URL.into());
    store.receive_card_report(&card("fresh-card"), sent).await.unwrap();
    assert!(is_a_conflict(&*store, &card("fresh-card")).await);
    assert_eq!(store.uploads_expected_until().await.unwrap(), None);
}

pub async fn expecting_an_image_again_returns_the_same_upload_and_extends_it(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let id = card("used-card");
    let upload = store.expect_image(&id, minutes(10)).await.unwrap();
    // If two clients request an upload address, neither address expires early.
    for (until, expected) in [(5, 10), (20, 20)] {
        assert_eq!(store.expect_image(&id, minutes(until)).await.unwrap(), upload);
        assert_eq!(store.uploads_expected_until().await.unwrap(), Some(minutes(expected)));
    }
    clock.set(minutes(60));
    assert_eq!(
        store.expected_upload(&id).await.unwrap().as_ref(),
        Some(&upload),
        "however long ago it ended"
    );
    assert_eq!(store.expect_image(&id, minutes(70)).await.unwrap(), upload);
    assert_eq!(store.uploads_expected_until().await.unwrap(), Some(minutes(70)));
    clock.set(minutes(80));
    assert!(store.receive_upload(&upload, "late").await.unwrap());
}

pub async fn uploads_expected_until_returns_the_latest_deadline(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let mut uploads = Vec::new();
    for until in [20, 30, 10] {
        let card = card_with_report(&*store).await;
        uploads.push(store.expect_image(&card, minutes(until)).await.unwrap());
    }
    assert_eq!(store.uploads_expected_until().await.unwrap(), Some(minutes(30)));
    for (came, left) in [(1, Some(20)), (0, Some(10)), (2, None)] {
        assert!(store.receive_upload(&uploads[came], "a").await.unwrap());
        assert_eq!(store.uploads_expected_until().await.unwrap(), left.map(minutes));
    }
    store.refuse_upload(&uploads[0]).await.unwrap();
    assert_eq!(store.uploads_expected_until().await.unwrap(), Some(minutes(20)), "as long as it was");
}

pub async fn while_an_upload_is_received_no_image_is_expected(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let upload = received_upload(&*store, "a").await;
    assert!(is_a_conflict(&*store, &upload.card).await);
    assert_eq!(store.expected_upload(&upload.card).await.unwrap(), None);
}

pub async fn a_published_image_shows_in_the_report_once_and_is_a_change_of_reports(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = revision(&*store).await;
    let id = card("used-card");
    let upload = store.expect_image(&id, minutes(10)).await.unwrap();
    assert!(!store.publish_image(&upload, URL).await.unwrap(), "it is not received");
    assert!(store.receive_upload(&upload, "a").await.unwrap());
    store.refuse_upload(&upload).await.unwrap();
    let upload = store.expected_upload(&id).await.unwrap().unwrap();
    assert!(store.receive_upload(&upload, "b").await.unwrap());
    take(&*store).await.unwrap();
    store.postpone_upload(&upload, LEASE).await.unwrap();
    assert_eq!(revision(&*store).await, before, "no report has changed");
    assert_eq!((image_of(&*store, &id).await, shown_images(&*store).await), (None, vec![]));

    let key = store.card(&id).await.unwrap().report.unwrap();
    let text = store.report(key).await.unwrap().value.content.text.clone();
    assert!(store.publish_image(&upload, URL).await.unwrap());
    let published = revision(&*store).await;
    assert!(published > before);
    let report = store.report(key).await.unwrap();
    assert_eq!((report.revision, report.value.content.image_url.as_deref()), (published, Some(URL)));
    assert_eq!(report.value.content.text, text);
    assert_eq!(shown_images(&*store).await, [(key, URL.to_owned())]);

    assert!(!store.publish_image(&upload, "http://example.org/2.jpg").await.unwrap());
    assert_eq!(image_of(&*store, &id).await.as_deref(), Some(URL));
    assert_eq!(revision(&*store).await, published);
}

pub async fn after_publication_no_image_is_expected_and_nothing_is_received(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let upload = received_upload(&*store, "a").await;
    assert!(store.publish_image(&upload, URL).await.unwrap());
    let after = revision(&*store).await;
    let next = Upload { turn: 1, ..upload.clone() };
    for upload in [&upload, &next] {
        store.postpone_upload(upload, Duration::ZERO).await.unwrap();
        store.refuse_upload(upload).await.unwrap();
        for object in ["a", "b"] {
            assert!(!store.receive_upload(upload, object).await.unwrap());
        }
    }
    assert!(is_a_conflict(&*store, &upload.card).await);
    assert_eq!(store.expected_upload(&upload.card).await.unwrap(), None);
    assert_eq!(store.uploads_expected_until().await.unwrap(), None);
    clock.set(minutes(60));
    assert_eq!(take(&*store).await, None);
    assert_eq!(revision(&*store).await, after);
}

/// Acts as one of many concurrent callers, until an image is published or another caller works on it. Returns whether this
/// caller published the image.
async fn race(store: &dyn Store, card: &CardId, number: u32) -> bool {
    loop {
        let upload = match store.expect_image(card, minutes(10 + u64::from(number))).await {
            Ok(upload) => upload,
            Err(StoreError::Conflict { .. }) => match take(store).await {
                Some(taken) => taken.upload,
                None => return false,
            },
            Err(error) => panic!("{error:?}"),
        };
        store.receive_upload(&upload, &format!("object-{number}")).await.unwrap();
        if upload.turn < 3 && number.is_multiple_of(3) {
            store.refuse_upload(&upload).await.unwrap();
        }
        if store.publish_image(&upload, &format!("http://example.org/{number}.jpg")).await.unwrap() {
            return true;
        }
    }
}

pub async fn exactly_one_of_racing_images_is_published(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for _ in 0..5 {
        let card = card_with_report(&*store).await;
        let before = revision(&*store).await;
        let races = (0..32).map(|number| {
            let (store, card) = (Arc::clone(&store), card.clone());
            tokio::spawn(async move { (number, race(&*store, &card, number).await) })
        });
        let results = join_all(races).await.into_iter().map(Result::unwrap);
        let published: Vec<u32> =
            results.filter(|&(_, published)| published).map(|(number, _)| number).collect();
        let [number] = published[..] else { panic!("published by {published:?}") };
        assert_eq!(image_of(&*store, &card).await, Some(format!("http://example.org/{number}.jpg")));
        assert_eq!(revision(&*store).await.0, before.0 + 1, "one change of reports");
        assert!(is_a_conflict(&*store, &card).await);
        assert_eq!(store.expected_upload(&card).await.unwrap(), None);
        assert_eq!(store.uploads_expected_until().await.unwrap(), None);
    }
}
