//! Moderation of reports.

use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::images::{LEASE, card, minutes, received_upload, take};
use super::{FreshStore, open};
use crate::fixture::{cards, content, now, place};
use siaga::model::bodies::PartnerReport;
use siaga::model::{
    Actor, AreaLimit, AreaSelector, Clock, DisasterType, HiddenReports, HideWaiting, Moderation,
    ModerationAction, Period, PhotoMove, PhotoPlace, ReportKey, SenderHash, WaitingOrigin, photo_name,
};
use siaga::stores::{
    ModerationQuery, ReceiveOutcome, ReportQuery, ReportSeriesQuery, Resource, Store, StoreError,
    WaitingQuery, Window,
};

const HOUR: Duration = Duration::from_hours(1);

fn moderation(report: u64, action: ModerationAction) -> Moderation {
    let by = Actor { subject: "moderators".to_owned(), username: Some("Ibu Ani".to_owned()) };
    let report = report.try_into().unwrap();
    Moderation {
        report,
        made_at: None,
        action,
        by,
        limit: AreaLimit::Everywhere,
        reason: "shows a person's name".to_owned(),
    }
}

async fn moderate(store: &dyn Store, report: u64, action: ModerationAction) -> bool {
    store.moderate(&moderation(report, action)).await.unwrap()
}

fn last_hours(hours: u32) -> ReportQuery {
    let window = Window::Last(HOUR * hours);
    ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window }
}

/// Returns the keys of the reports of the last two hours.
async fn listed(store: &dyn Store) -> Vec<u64> {
    let layer = store.reports(&last_hours(2)).await.unwrap().value;
    let listed: Vec<_> = layer.reports.iter().map(|report| report.key.number()).collect();
    let counted = store.count_reports(&last_hours(2), 100).await.unwrap();
    assert_eq!(counted, listed.len() as u64);
    listed
}

/// Returns the number of reports of the last two hours in the summary and in the series.
async fn counted(store: &dyn Store) -> [u64; 2] {
    let summary = store.report_summary(&last_hours(2)).await.unwrap().value;
    assert_eq!(summary.by_source.values().sum::<u64>(), summary.by_disaster.values().sum::<u64>());
    [summary.by_source.values().sum(), counted_floods(store, AreaSelector::default()).await]
}

async fn counted_floods(store: &dyn Store, selector: AreaSelector) -> u64 {
    let period = Period::new(now().saturating_sub(HOUR * 2), now(), HOUR * 9).unwrap();
    let query = ReportSeriesQuery { selector, disaster: DisasterType::Flood, training: false, period };
    let series = store.report_series(&query).await.unwrap().value;
    series.iter().map(|point| point.count).sum()
}

async fn is_found(store: &dyn Store, report: u64) -> bool {
    match store.report(report.try_into().unwrap()).await {
        Ok(_) => true,
        Err(StoreError::NotFound { .. }) => false,
        Err(error) => panic!("{error:?}"),
    }
}

async fn take_move(store: &dyn Store) -> Option<(String, PhotoPlace)> {
    let taken = store.take_photo_move(LEASE).await.unwrap();
    taken.map(|PhotoMove { photo, to }| (photo.into(), to))
}

async fn end_move(store: &dyn Store, photo: &str, to: PhotoPlace) {
    store.end_photo_move(&PhotoMove { photo: photo.into(), to }).await.unwrap();
}

/// Creates a report with a photo; returns its key and the photo's name.
async fn report_with_photo(store: &dyn Store) -> (u64, String) {
    let upload = received_upload(store, "an object").await;
    let photo = photo_name(&upload.card);
    take(store).await.unwrap();
    assert!(store.publish_image(&upload, &photo).await.unwrap());
    (store.card(&upload.card).await.unwrap().report.unwrap().number(), photo)
}

pub async fn a_hidden_report_is_in_no_list_and_no_count_until_it_is_shown_again(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Reports).await.unwrap();
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 7, 6, 2, 5, 4], [6, 4]));
    assert!(moderate(&*store, 7, ModerationAction::Hide).await);
    let hidden = store.revision(Resource::Reports).await.unwrap();
    assert!(hidden > before);
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 6, 2, 5, 4], [5, 3]));
    assert!(!is_found(&*store, 7).await);
    assert!(moderate(&*store, 7, ModerationAction::Show).await);
    assert!(store.revision(Resource::Reports).await.unwrap() > hidden);
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 7, 6, 2, 5, 4], [6, 4]));
    assert!(is_found(&*store, 7).await);
}

async fn waiting_report(store: &dyn Store, id: &str) -> u64 {
    let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let origin = WaitingOrigin::default();
    store.receive_waiting_report(&card(id), content, origin).await.unwrap().key.number()
}

async fn all_waiting(store: &dyn Store) -> Vec<u64> {
    let reports = store.waiting_reports(WaitingQuery { most: 10, per_sender: 10 }).await.unwrap();
    assert_eq!(reports.total, reports.reports.len() as u64);
    reports.reports.iter().map(|waiting| waiting.report.key.number()).collect()
}

pub async fn a_waiting_report_is_hidden_until_a_moderator_shows_it(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(all_waiting(&*store).await, Vec::<u64>::new());
    let report = waiting_report(&*store, "fresh-card").await;
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 7, 6, 2, 5, 4], [6, 4]));
    assert!(!is_found(&*store, report).await);
    assert_eq!(all_waiting(&*store).await, [report]);
    let all = store.waiting_reports(WaitingQuery { most: 10, per_sender: 10 }).await.unwrap().reports;
    assert_eq!(&*all[0].report.content.text, &*content(DisasterType::Flood, 1, place(0.5, 0.5)).text);
    let none = store.waiting_reports(WaitingQuery { most: 0, per_sender: 10 }).await.unwrap().reports;
    assert!(none.is_empty());
    assert!(log(&*store, 0, None, 10).await.is_empty(), "no moderator has done anything");
    assert_eq!(store.card(&card("fresh-card")).await.unwrap().report.map(ReportKey::number), Some(report));
    let again = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let again = store.receive_waiting_report(&card("fresh-card"), again, WaitingOrigin::default()).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");

    assert!(moderate(&*store, report, ModerationAction::Show).await);
    assert!(listed(&*store).await.contains(&report) && is_found(&*store, report).await);
    assert_eq!(all_waiting(&*store).await, Vec::<u64>::new());
    assert!(!moderate(&*store, report, ModerationAction::Show).await, "it is shown");
    assert_eq!(log(&*store, 0, None, 10).await.len(), 1);
}

/// Creates one report that waits for review for each item of `senders`, and returns the keys of the reports.
async fn waiting_reports(store: &dyn Store, senders: &[(Option<u8>, bool)]) -> Vec<u64> {
    let holder = cards()[0].holder.clone();
    let mut keys = Vec::new();
    for (sender, is_suspect) in senders {
        let id = store.create_card(holder.clone()).await.unwrap().id.clone();
        let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
        let sender = sender.map(|sender| SenderHash::new([sender; 8]));
        let origin = WaitingOrigin { sender, is_suspect: *is_suspect };
        let report = store.receive_waiting_report(&id, content, origin).await.unwrap();
        keys.push(report.key.number());
    }
    keys
}

/// Creates one waiting report of one sender at each place, in hundredths of a degree as in [`place`].
pub(super) async fn waiting_reports_at(store: &dyn Store, places: &[(f64, f64)]) -> Vec<ReportKey> {
    let mut keys = Vec::new();
    for (x, y) in places {
        let id = store.create_card(cards()[0].holder.clone()).await.unwrap().id.clone();
        let origin = WaitingOrigin { sender: Some(SenderHash::new([1; 8])), is_suspect: false };
        let content = content(DisasterType::Flood, 1, place(*x, *y));
        keys.push(store.receive_waiting_report(&id, content, origin).await.unwrap().key);
    }
    keys
}

/// Returns for each listed report its position in `keys` and its sender's number of waiting reports; then the total number.
async fn listed_waiting(
    store: &dyn Store,
    keys: &[u64],
    most: u32,
    per_sender: u32,
) -> (Vec<(usize, u64)>, u64) {
    let waiting = store.waiting_reports(WaitingQuery { most, per_sender }).await.unwrap();
    let position = |key: ReportKey| keys.iter().position(|other| *other == key.number()).unwrap();
    let reports = waiting.reports.iter().map(|waiting| (position(waiting.report.key), waiting.sender_total));
    (reports.collect(), waiting.total)
}

pub async fn one_sender_cannot_fill_the_review_list(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let senders = [
        (Some(1), false),
        (Some(2), false),
        (Some(1), true),
        (None, false),
        (Some(1), false),
        (Some(1), false),
    ];
    let keys = waiting_reports(&*store, &senders).await;
    let all = vec![(5, 4), (4, 4), (3, 1), (1, 1), (0, 4), (2, 4)];
    assert_eq!(listed_waiting(&*store, &keys, 10, 10).await, (all, 6), "newest first, suspect ones last");
    assert_eq!(listed_waiting(&*store, &keys, 10, 1).await, (vec![(5, 4), (3, 1), (1, 1)], 6));
    assert_eq!(listed_waiting(&*store, &keys, 2, 2).await, (vec![(5, 4), (4, 4)], 6));

    let by = Actor { subject: "bpbd".to_owned(), username: Some("Sri".to_owned()) };
    let request = HideWaiting {
        sender: SenderHash::new([1; 8]),
        by,
        limit: AreaLimit::Everywhere,
        reason: "spam".to_owned(),
    };
    assert!(moderate(&*store, keys[0], ModerationAction::Show).await);
    let hidden = store.hide_waiting(&request).await.unwrap();
    let expected: Vec<_> = [2, 4, 5].map(|at| keys[at]).to_vec();
    assert_eq!(hidden.hidden.iter().map(|key| key.number()).collect::<Vec<_>>(), expected);
    assert_eq!(hidden.left, 0);
    assert!(is_found(&*store, keys[0]).await, "one that was shown meanwhile stays");
    let query = ModerationQuery { after: 0, before: None, most: 10 };
    let log = store.moderation_log(query).await.unwrap().value;
    let numbers: Vec<_> = log.iter().map(|entry| (entry.number, entry.report.number())).collect();
    assert_eq!(numbers, [(4, keys[5]), (3, keys[4]), (2, keys[2]), (1, keys[0])]);
    assert_eq!((&*log[0].reason, log[0].action), ("spam", ModerationAction::Hide));
    assert_eq!(listed_waiting(&*store, &keys, 10, 10).await, (vec![(3, 1), (1, 1)], 2));
    assert_eq!(store.hide_waiting(&request).await.unwrap(), HiddenReports::default());
}

pub async fn the_senders_of_waiting_reports_are_erased(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let keys = waiting_reports(&*store, &[(Some(1), false), (Some(1), true)]).await;
    store.forget_senders(clock.now().saturating_sub(Duration::from_secs(1))).await.unwrap();
    assert_eq!(listed_waiting(&*store, &keys, 10, 10).await, (vec![(0, 2), (1, 2)], 2), "not yet");
    store.forget_senders(clock.now()).await.unwrap();
    assert_eq!(listed_waiting(&*store, &keys, 10, 10).await, (vec![(0, 1), (1, 1)], 2));
    let waiting = store.waiting_reports(WaitingQuery { most: 10, per_sender: 10 }).await.unwrap().reports;
    assert_eq!(waiting.iter().map(|waiting| waiting.origin.is_suspect).collect::<Vec<_>>(), [false, true]);
}

pub async fn a_waiting_report_that_is_hidden_or_erased_no_longer_waits(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let holder = cards()[0].holder.clone();
    for action in [ModerationAction::Hide, ModerationAction::Erase] {
        let id = store.create_card(holder.clone()).await.unwrap().id.clone();
        let report = waiting_report(&*store, id.as_str()).await;
        assert!(moderate(&*store, report, action).await, "{action}");
        assert_eq!(all_waiting(&*store).await, Vec::<u64>::new());
        assert!(!moderate(&*store, report, action).await, "{action} again");
        assert!(!is_found(&*store, report).await);
    }
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 7, 6, 2, 5, 4], [6, 4]));
    let actions = log(&*store, 0, None, 10).await.into_iter().map(|(_, action)| action);
    assert_eq!(actions.collect::<Vec<_>>(), [ModerationAction::Erase, ModerationAction::Hide]);
}

pub async fn a_batch_without_changes_is_not_logged(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert!(!moderate(&*store, 1, ModerationAction::Show).await, "it is shown");
    assert!(moderate(&*store, 1, ModerationAction::Hide).await);
    let revision = store.revision(Resource::Reports).await.unwrap();
    assert!(!moderate(&*store, 1, ModerationAction::Hide).await, "it is hidden");
    assert!(moderate(&*store, 1, ModerationAction::Erase).await);
    assert!(!moderate(&*store, 1, ModerationAction::Erase).await, "it is erased");
    assert!(store.revision(Resource::Reports).await.unwrap() > revision);
    let actions = log(&*store, 0, None, 10).await.into_iter().map(|(_, action)| action);
    assert_eq!(actions.collect::<Vec<_>>(), [ModerationAction::Erase, ModerationAction::Hide]);
}

pub async fn an_unknown_report_is_not_found(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    moderate(&*store, 1, ModerationAction::Erase).await;
    let unknown = ModerationAction::ALL.map(|action| (99, action));
    for (report, action) in
        unknown.into_iter().chain([(1, ModerationAction::Hide), (1, ModerationAction::Show)])
    {
        let error = store.moderate(&moderation(report, action)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{action} {report}: {error:?}");
    }
}

pub async fn moderating_a_report_of_another_time_is_a_conflict(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for action in ModerationAction::ALL {
        let made_at = Some(now().saturating_sub(Duration::from_mins(11)));
        let error = store.moderate(&Moderation { made_at, ..moderation(1, action) }).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { .. }), "{action}: {error:?}");
    }
    assert!(is_found(&*store, 1).await);
    let made_at = Some(now().saturating_sub(Duration::from_mins(10)));
    assert!(store.moderate(&Moderation { made_at, ..moderation(1, ModerationAction::Hide) }).await.unwrap());
}

async fn log(store: &dyn Store, after: u64, before: Option<u64>, most: u32) -> Vec<(u64, ModerationAction)> {
    let found = store.moderation_log(ModerationQuery { after, before, most }).await.unwrap().value;
    found.into_iter().map(|entry| (entry.number, entry.action)).collect()
}

pub async fn the_log_records_actor_action_and_reason(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    clock.set(minutes(1));
    moderate(&*store, 4, ModerationAction::Hide).await;
    let all = ModerationQuery { after: 0, before: None, most: 10 };
    let found = store.moderation_log(all).await.unwrap();
    assert_eq!(found.revision, store.revision(Resource::Reports).await.unwrap());
    let expected = moderation(4, ModerationAction::Hide);
    assert_eq!(found.value.len(), 1);
    let entry = &found.value[0];
    assert_eq!((entry.number, entry.at, entry.made_at), (1, minutes(1), now().saturating_sub(HOUR * 2)));
    assert_eq!((entry.report, entry.action), (expected.report, expected.action));
    assert_eq!((&entry.by, &entry.reason), (&expected.by, &expected.reason));
}

pub async fn the_moderation_log_is_read_newest_first_in_pages(fresh: &dyn FreshStore) {
    use ModerationAction::{Erase, Hide, Show};

    let (store, _) = open(fresh).await;
    for action in [Hide, Show, Hide, Erase] {
        assert!(moderate(&*store, 2, action).await);
    }
    assert_eq!(log(&*store, 0, None, 3).await, [(4, Erase), (3, Hide), (2, Show)]);
    assert_eq!(log(&*store, 0, Some(2), 3).await, [(1, Hide)]);
    assert_eq!(log(&*store, 2, None, 3).await, [(4, Erase), (3, Hide)]);
    assert_eq!(log(&*store, 1, Some(4), 1).await, [(3, Hide)]);
    assert_eq!(log(&*store, 4, None, 3).await, []);
}

pub async fn exactly_one_concurrent_call_hides_a_report(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let hiding = (0..8).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { moderate(&*store, 1, ModerationAction::Hide).await })
    });
    let changed = join_all(hiding).await.into_iter().filter(|changed| *changed.as_ref().unwrap()).count();
    assert_eq!((changed, log(&*store, 0, None, 10).await.len()), (1, 1));
}

pub async fn an_erased_report_is_only_counted(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let in_city = |code: &str| AreaSelector { city: Some(code.to_owned()), region: None };
    let in_region = |code: &str| AreaSelector { city: None, region: Some(code.to_owned()) };
    for report in [1, 4] {
        assert!(moderate(&*store, report, ModerationAction::Erase).await);
    }
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![7, 6, 2, 5], [6, 4]));
    assert!(!is_found(&*store, 1).await && !is_found(&*store, 4).await);
    for (selector, expected) in [(in_city("jbd"), 4), (in_region("ID-JK"), 4), (in_city("bdg"), 0)] {
        assert_eq!(counted_floods(&*store, selector.clone()).await, expected, "{selector:?}");
    }
    let query = |disaster| ReportQuery { disaster: Some(disaster), ..last_hours(2) };
    let winds = store.report_summary(&query(DisasterType::Wind)).await.unwrap().value;
    assert_eq!(winds.by_disaster.into_iter().collect::<Vec<_>>(), [(DisasterType::Wind, 1)]);
}

pub async fn an_erased_report_that_was_hidden_is_not_counted(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    moderate(&*store, 1, ModerationAction::Hide).await;
    moderate(&*store, 1, ModerationAction::Erase).await;
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![7, 6, 2, 5, 4], [5, 3]));
}

pub async fn the_card_of_an_erased_report_is_gone_and_its_post_is_not_stored_again(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for report in [1, 4] {
        moderate(&*store, report, ModerationAction::Erase).await;
    }
    let error = store.card(&card("used-card")).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
    let error = store.receive_card_report(&card("used-card"), content.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    let post = PartnerReport { post_id: 4711, content };
    assert_eq!(store.receive_partner_report(post).await.unwrap(), ReceiveOutcome::Existing);
}

pub async fn the_key_of_an_erased_report_is_not_used_again(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let send = async |post_id| {
        let content = content(DisasterType::Flood, 1, place(0.5, 0.5));
        store.receive_partner_report(PartnerReport { post_id, content }).await.unwrap();
        listed(&*store).await[0]
    };
    let first = send(1).await;
    assert!(moderate(&*store, first, ModerationAction::Erase).await);
    assert_eq!(send(2).await, first + 1);
}

pub async fn old_reports_are_erased_oldest_first(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    moderate(&*store, 5, ModerationAction::Hide).await;
    assert_eq!(store.erase_reports(now().saturating_sub(HOUR * 3), 10).await.unwrap(), 0);
    assert_eq!(store.erase_reports(now().saturating_sub(Duration::from_mins(20)), 1).await.unwrap(), 1);
    assert_eq!(listed(&*store).await, [1, 7, 6, 2]);
    // Report 2 is 20 minutes old, and the hidden report 5 is older.
    assert_eq!(store.erase_reports(now().saturating_sub(Duration::from_mins(20)), 10).await.unwrap(), 1);
    assert_eq!((listed(&*store).await, counted(&*store).await), (vec![1, 7, 6, 2], [5, 4]));
    let error = store.moderate(&moderation(5, ModerationAction::Show)).await.unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    assert_eq!(log(&*store, 0, None, 10).await.len(), 1, "only the hiding is in the log");
}

pub async fn hiding_and_showing_a_report_moves_its_photo(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let (report, photo) = report_with_photo(&*store).await;
    assert_eq!(take_move(&*store).await, None);
    for (action, to) in [
        (ModerationAction::Hide, PhotoPlace::Hidden),
        (ModerationAction::Show, PhotoPlace::Public),
        (ModerationAction::Erase, PhotoPlace::Gone),
    ] {
        assert!(moderate(&*store, report, action).await);
        assert_eq!(take_move(&*store).await, Some((photo.clone(), to)));
        end_move(&*store, &photo, to).await;
        assert_eq!(take_move(&*store).await, None, "{action}");
    }
    moderate(&*store, 4, ModerationAction::Hide).await;
    assert_eq!(take_move(&*store).await, None, "its image is elsewhere on the web");
}

pub async fn a_photo_is_moved_by_one_server_at_a_time(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let (report, photo) = report_with_photo(&*store).await;
    moderate(&*store, report, ModerationAction::Hide).await;
    let hidden = Some((photo.clone(), PhotoPlace::Hidden));
    assert_eq!(take_move(&*store).await, hidden);
    moderate(&*store, report, ModerationAction::Show).await;
    assert_eq!(take_move(&*store).await, None, "it is being moved");
    end_move(&*store, &photo, PhotoPlace::Hidden).await;
    assert_eq!(take_move(&*store).await, Some((photo.clone(), PhotoPlace::Public)), "it belongs elsewhere");
    moderate(&*store, report, ModerationAction::Hide).await;
    clock.set(now().saturating_add(LEASE));
    assert_eq!(take_move(&*store).await, hidden, "the lease has ended");
}

pub async fn photos_to_be_deleted_are_moved_last_and_the_oldest_order_first(fresh: &dyn FreshStore) {
    use ModerationAction::{Erase, Hide, Show};

    let (store, clock) = open(fresh).await;
    let mut reports = Vec::new();
    for _ in 0..5 {
        reports.push(report_with_photo(&*store).await);
    }
    // The names of photos are random, so their order differs from the order of the requests.
    let actions = [(0, Erase), (1, Erase), (2, Hide), (3, Hide), (4, Hide), (4, Show)];
    for (minute, (index, action)) in (1..).zip(actions) {
        clock.set(minutes(minute));
        assert!(moderate(&*store, reports[index].0, action).await);
    }
    let expected = [
        (2, PhotoPlace::Hidden),
        (3, PhotoPlace::Hidden),
        (4, PhotoPlace::Public),
        (0, PhotoPlace::Gone),
        (1, PhotoPlace::Gone),
    ];
    for (index, to) in expected {
        assert_eq!(take_move(&*store).await, Some((reports[index].1.clone(), to)), "{index}");
    }
    assert_eq!(take_move(&*store).await, None);
}

pub async fn the_photo_of_a_given_report_can_be_taken_first(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let mut others = Vec::new();
    for _ in 0..3 {
        let (report, photo) = report_with_photo(&*store).await;
        assert!(moderate(&*store, report, ModerationAction::Hide).await);
        others.push(photo);
    }
    clock.set(minutes(1));
    let (report, photo) = report_with_photo(&*store).await;
    let key: ReportKey = report.try_into().unwrap();
    assert_eq!(store.take_photo_move_of(key, LEASE).await.unwrap(), None, "it is not to be moved");
    assert!(moderate(&*store, report, ModerationAction::Hide).await);
    let hidden = PhotoMove { photo: photo.clone().into(), to: PhotoPlace::Hidden };
    assert_eq!(store.take_photo_move_of(key, LEASE).await.unwrap().as_ref(), Some(&hidden));
    let error = store.take_photo_move_of(key, LEASE).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "it is being moved: {error:?}");
    for _ in &others {
        let (taken, _) = take_move(&*store).await.unwrap();
        assert!(others.contains(&taken), "{taken}");
    }
    assert_eq!(take_move(&*store).await, None, "it is being moved");
    store.end_photo_move(&hidden).await.unwrap();
    assert_eq!(store.take_photo_move_of(key, LEASE).await.unwrap(), None);
    let unknown = store.take_photo_move_of(99.try_into().unwrap(), LEASE).await.unwrap();
    assert_eq!(unknown, None, "there is no such report");
}

pub async fn the_photo_of_a_hidden_report_goes_to_the_private_storage(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let upload = received_upload(&*store, "an object").await;
    let photo = photo_name(&upload.card);
    let report = store.card(&upload.card).await.unwrap().report.unwrap().number();
    moderate(&*store, report, ModerationAction::Hide).await;
    assert!(store.publish_image(&upload, &photo).await.unwrap());
    assert_eq!(take_move(&*store).await, Some((photo.clone(), PhotoPlace::Hidden)));
    let error = store.expect_image(&upload.card, minutes(10)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "it has its image: {error:?}");
    end_move(&*store, &photo, PhotoPlace::Hidden).await;
    moderate(&*store, report, ModerationAction::Show).await;
    let shown = store.report(report.try_into().unwrap()).await.unwrap().value;
    assert_eq!(shown.content.image_url.as_deref(), Some(&*photo));
}

pub async fn an_upload_for_an_erased_report_is_not_published(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let upload = received_upload(&*store, "an object").await;
    let photo = photo_name(&upload.card);
    let report: ReportKey = store.card(&upload.card).await.unwrap().report.unwrap();
    assert!(moderate(&*store, report.number(), ModerationAction::Erase).await);
    assert!(!store.publish_image(&upload, &photo).await.unwrap());
    assert_eq!(store.uploads_waiting().await.unwrap(), 0);
    assert!(!store.receive_upload(&upload, "another").await.unwrap());
    assert_eq!(take_move(&*store).await, Some((photo, PhotoPlace::Gone)));
}
