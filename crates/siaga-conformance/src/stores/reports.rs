//! Reports.

use std::time::Duration;

use super::{FreshStore, open};
use crate::fixture::{content, now, place};
use siaga::model::bodies::PartnerReport;
use siaga::model::{AreaSelector, DisasterType, Period, ReportContent, ReportKey, Timestamp};
use siaga::stores::{ReceiveOutcome, ReportQuery, ReportSeriesQuery, Store, StoreError, Window};

fn last(duration: Duration) -> ReportQuery {
    let window = Window::Last(duration);
    ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window }
}

fn within(start: Timestamp, end: Timestamp) -> ReportQuery {
    let period = Period::new(start, end, Duration::MAX).unwrap();
    ReportQuery { window: Window::Within(period), ..last(Duration::ZERO) }
}

async fn keys(store: &dyn Store, query: &ReportQuery) -> Vec<u64> {
    let layer = store.reports(query).await.unwrap().value;
    layer.reports.iter().map(|report| report.key.number()).collect()
}

const NONE: [u64; 0] = [];
const HOUR: Duration = Duration::from_hours(1);

pub async fn the_last_hours_reports_are_listed_newest_first(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    assert_eq!(keys(&*store, &last(HOUR)).await, [1, 7, 6, 2, 5]);
    assert_eq!(keys(&*store, &last(HOUR * 2)).await, [1, 7, 6, 2, 5, 4]);
    assert_eq!(keys(&*store, &last(Duration::from_mins(10))).await, [1]);
    assert_eq!(keys(&*store, &last(Duration::from_secs(599))).await, NONE);
}

pub async fn a_disaster_and_a_selector_leave_out_the_others(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let by_disaster = |disaster| ReportQuery { disaster: Some(disaster), ..last(HOUR) };
    assert_eq!(keys(&*store, &by_disaster(DisasterType::Wind)).await, [2]);
    assert_eq!(keys(&*store, &by_disaster(DisasterType::Prep)).await, [3]);
    assert_eq!(keys(&*store, &by_disaster(DisasterType::Volcano)).await, NONE);
    let in_city = |code: &str| AreaSelector { city: Some(code.to_owned()), region: None };
    let in_region = |code: &str| AreaSelector { city: None, region: Some(code.to_owned()) };
    for (selector, expected) in [
        (in_city("bdg"), &[2][..]),
        (in_city("jbd"), &[1, 7, 6]),
        (in_city("sby"), &[5]),
        (in_city("ID-JB"), &[2]),
        (in_region("ID-JK"), &[1, 7, 6]),
        (in_region("ID-AC"), &[]),
    ] {
        let query = ReportQuery { selector: selector.clone(), ..last(HOUR) };
        assert_eq!(keys(&*store, &query).await, expected, "{selector:?}");
    }
}

pub async fn a_period_includes_both_ends(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let ago = |minutes| now().saturating_sub(Duration::from_mins(minutes));
    assert_eq!(keys(&*store, &within(ago(120), ago(15))).await, [7, 6, 2, 5, 4]);
    assert_eq!(keys(&*store, &within(ago(119), ago(16))).await, [2, 5]);
    assert_eq!(keys(&*store, &within(ago(300), ago(200))).await, NONE);
}

pub async fn a_future_report_appears_at_its_time(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let its_time = Timestamp::parse("2099-01-01T00:00:00Z").unwrap();
    let query = within(now().saturating_sub(HOUR), its_time.saturating_add(HOUR));
    assert_eq!(keys(&*store, &query).await, [1, 7, 6, 2, 5]);
    clock.set(its_time);
    assert_eq!(keys(&*store, &query).await, [8, 1, 7, 6, 2, 5]);
    assert_eq!(keys(&*store, &last(HOUR)).await, [8]);
    let ahead = within(its_time.saturating_add(HOUR), its_time.saturating_add(HOUR * 2));
    assert_eq!(keys(&*store, &ahead).await, NONE, "a period not begun yet");
}

pub async fn counting_reports_matches_the_list_up_to_a_limit(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let in_bandung = AreaSelector { city: Some("bdg".to_owned()), region: None };
    let ago = |minutes| now().saturating_sub(Duration::from_mins(minutes));
    for query in [
        last(HOUR),
        last(Duration::from_secs(599)),
        ReportQuery { selector: in_bandung, ..last(HOUR) },
        ReportQuery { disaster: Some(DisasterType::Wind), ..last(HOUR) },
        within(ago(120), ago(15)),
        within(now().saturating_add(HOUR), now().saturating_add(HOUR * 2)),
    ] {
        let listed = keys(&*store, &query).await.len() as u64;
        for most in [0, 1, 4, 1_000, u64::MAX] {
            let counted = store.count_reports(&query, most).await.unwrap();
            assert_eq!(counted, listed.min(most), "{query:?} up to {most}");
        }
    }
}

pub async fn one_report_is_found_by_its_key(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let report = store.report(4.try_into().unwrap()).await.unwrap().value;
    assert_eq!((report.key.number(), &*report.content.source), (4, "partner"));
    assert_eq!(report.content.image_url.as_deref(), Some("http://example.org/1.jpg"));
    for unknown in [99.try_into().unwrap(), ReportKey::LAST] {
        let error = store.report(unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    }
}

pub async fn training_reports_are_listed_and_counted_only_on_request(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let content = ReportContent {
        is_training: true,
        partner_code: Some("partner-1".into()),
        partner_icon: Some("https://example.org/1.png".into()),
        ..content(DisasterType::Flood, 1, place(0.5, 0.5))
    };
    let by_card = store.receive_card_report(&"fresh-card".parse().unwrap(), content.clone()).await.unwrap();
    let by_feed = PartnerReport { post_id: 1, content: ReportContent { url: None, ..content } };
    assert_eq!(store.receive_partner_report(by_feed).await.unwrap(), ReceiveOutcome::Created);
    for number in [by_card.key.number(), by_card.key.number() + 1] {
        let found = store.report(number.try_into().unwrap()).await.unwrap().value;
        assert!(found.content.is_training, "one is found by its key");
        assert_eq!(found.content.partner_code.as_deref(), Some("partner-1"));
        assert_eq!(found.content.partner_icon.as_deref(), Some("https://example.org/1.png"));
    }
    let period = Period::new(now().saturating_sub(HOUR), now(), HOUR * 9).unwrap();
    for (training, expected) in [(false, &[1, 7, 6, 2, 5][..]), (true, &[10, 9, 1, 7, 6, 2, 5])] {
        let query = ReportQuery { training, ..last(HOUR) };
        assert_eq!(keys(&*store, &query).await, expected);
        let summary = store.report_summary(&query).await.unwrap().value;
        assert_eq!(summary.by_disaster.values().sum::<u64>(), expected.len() as u64);
        let query = ReportSeriesQuery {
            selector: AreaSelector::default(),
            disaster: DisasterType::Flood,
            training,
            period,
        };
        let points = store.report_series(&query).await.unwrap().value;
        assert_eq!(points.iter().map(|point| point.count).sum::<u64>(), if training { 5 } else { 3 });
    }
}

pub async fn the_series_counts_the_reports_of_whole_hours(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    // Floods at 14:08:52, 15:53:52 (two) and 15:58:52.
    let period = Period::new(now().saturating_sub(HOUR * 2), now().saturating_sub(HOUR), HOUR * 9).unwrap();
    let counts = |selector, disaster| {
        let store = std::sync::Arc::clone(&store);
        async move {
            let query = ReportSeriesQuery { selector, disaster, training: false, period };
            let points = store.report_series(&query).await.unwrap().value;
            assert_eq!(points[0].ts, period.start().floor_to_hour());
            points.iter().map(|point| point.count).collect::<Vec<_>>()
        }
    };
    assert_eq!(counts(AreaSelector::default(), DisasterType::Flood).await, [1, 3]);
    assert_eq!(counts(AreaSelector::default(), DisasterType::Wind).await, [0, 1]);
    let elsewhere = AreaSelector { city: Some("bdg".to_owned()), region: None };
    assert_eq!(counts(elsewhere, DisasterType::Flood).await, [0, 0]);
}

pub async fn the_summary_counts_by_source_and_by_disaster(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let summary = store.report_summary(&last(HOUR * 2)).await.unwrap().value;
    let by_source: Vec<_> = summary.by_source.iter().map(|(name, &count)| (name.as_str(), count)).collect();
    assert_eq!(by_source, [("grasp", 5), ("partner", 1)]);
    let by_disaster: Vec<_> = summary.by_disaster.into_iter().collect();
    let expected = [(DisasterType::Flood, 4), (DisasterType::Haze, 1), (DisasterType::Wind, 1)];
    assert_eq!(by_disaster, expected);
}
