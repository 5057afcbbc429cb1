//! The validity of results that change as time passes, without new data.

use std::fmt::Debug;
use std::time::Duration;

use super::{FreshStore, open};
use crate::fixture::{content, now, place, reading};
use siaga::model::bodies::{GaugeReadings, PartnerReport, SettingsUpdate};
use siaga::model::{
    AreaSelector, Clock, DisasterType, ManualClock, Observation, Period, ReportContent, ReportLayer,
    Timestamp, Validity,
};
use siaga::stores::{GaugeQuery, HistoryQuery, ReportQuery, ReportSeriesQuery, Store, Versioned, Window};

const HOUR: Duration = Duration::from_hours(1);
const MILLISECOND: Duration = Duration::from_millis(1);
const LAST: Window = Window::Last(HOUR);

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

fn period(start: Timestamp, end: Timestamp) -> Period {
    Period::new(start, end, Duration::MAX).unwrap()
}

/// Returns the period from an hour ago until some minutes after now.
fn until(ahead: u64) -> Period {
    period(now().saturating_sub(HOUR), now().saturating_add(minutes(ahead)))
}

async fn reports(store: &dyn Store, window: Window) -> Versioned<Vec<u64>> {
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    let keys = |layer: ReportLayer| layer.reports.iter().map(|report| report.key.number()).collect();
    store.reports(&query).await.unwrap().map(keys)
}

async fn summary(store: &dyn Store, window: Window) -> Versioned<String> {
    let query = ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window };
    store.report_summary(&query).await.unwrap().map(|summary| format!("{summary:?}"))
}

async fn series(store: &dyn Store, period: Period) -> Versioned<String> {
    let of = AreaSelector::default();
    let series = store
        .report_series(&ReportSeriesQuery {
            selector: of,
            disaster: DisasterType::Flood,
            training: false,
            period,
        })
        .await
        .unwrap();
    series.map(|points| format!("{points:?}"))
}

async fn gauges(store: &dyn Store, window: Window) -> Versioned<String> {
    let query = GaugeQuery { selector: AreaSelector::default(), window, with_failed: true };
    store.gauges(&query).await.unwrap().map(|layer| format!("{layer:?}"))
}

async fn publish_ahead(store: &dyn Store, ahead: u64) {
    let created_at = now().saturating_add(minutes(ahead));
    let content = content(DisasterType::Flood, 0, place(0.5, 0.5));
    let content = ReportContent { created_at, ..content };
    store.receive_partner_report(PartnerReport { post_id: 1, content }).await.unwrap();
}

async fn read_ahead(store: &dyn Store, ahead: u64) {
    let observed_at = now().saturating_add(minutes(ahead));
    let observations = vec![Observation { observed_at, ..reading(0, 7.0) }.into()];
    let (id, name, location) = ("TMA00003".to_owned(), "Pos Depok".to_owned(), place(1.0, 1.0));
    let stored = store
        .store_gauge(GaugeReadings { id, name, location, settings: SettingsUpdate::default(), observations })
        .await;
    stored.unwrap();
}

/// Reads three times: now, one millisecond before the result's validity ends, and when it ends. The first two results must be
/// equal, and the last one different. Returns the end of the validity.
async fn validity_end<T: Debug + PartialEq>(
    clock: &ManualClock,
    read: impl AsyncFn() -> Versioned<T>,
) -> Timestamp {
    let answer = read().await;
    let Validity::Between { from, until } = answer.validity else { panic!("an answer for ever") };
    assert_eq!(from, clock.now());
    clock.set(until.saturating_sub(MILLISECOND));
    assert_eq!(read().await.value, answer.value, "within its time");
    clock.set(until);
    assert_ne!(read().await.value, answer.value, "after its time");
    until
}

pub async fn a_result_of_the_last_hour_is_valid_until_its_oldest_report_leaves(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let end = validity_end(&clock, async || reports(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(minutes(30)).saturating_add(MILLISECOND));
    clock.set(now());
    let end = validity_end(&clock, async || summary(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(minutes(30)).saturating_add(MILLISECOND));
}

pub async fn a_result_of_the_last_hour_is_valid_until_the_next_report(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    publish_ahead(&*store, 5).await;
    let end = validity_end(&clock, async || reports(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)));
    clock.set(now());
    let end = validity_end(&clock, async || summary(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)));
}

pub async fn a_result_about_a_current_period_is_valid_until_the_next_report(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    publish_ahead(&*store, 5).await;
    let under_way = until(10);
    let end = validity_end(&clock, async || reports(&*store, Window::Within(under_way)).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)));
    clock.set(now());
    validity_end(&clock, async || summary(&*store, Window::Within(under_way)).await).await;
    clock.set(now());
    // The series counts whole hours. So it includes the report, although the period ends before the time of the report.
    validity_end(&clock, async || series(&*store, until(0)).await).await;
    clock.set(now());
    validity_end(&clock, async || reports(&*store, Window::Within(period(end, end))).await).await;
}

pub async fn a_result_stays_valid_without_new_reports(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let end = now().saturating_add(minutes(10));
    let answer = reports(&*store, Window::Within(until(10))).await;
    assert!(answer.validity.covers(end.saturating_add(HOUR * 1000)), "the next report comes in 2099");
    assert!(!answer.validity.covers(now().saturating_sub(MILLISECOND)), "not before it was read");
    clock.set(end.saturating_add(HOUR));
    assert_eq!(reports(&*store, Window::Within(until(10))).await.value, answer.value);
}

pub async fn a_gauge_result_is_valid_until_a_reading_leaves_or_appears(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let end = validity_end(&clock, async || gauges(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(MILLISECOND), "one was read an hour ago");
    read_ahead(&*store, 5).await;
    clock.set(now().saturating_add(MILLISECOND));
    let end = validity_end(&clock, async || gauges(&*store, LAST).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)));
    clock.set(now());
    validity_end(&clock, async || gauges(&*store, Window::Within(until(5))).await).await;
}

pub async fn a_result_about_the_past_stays_valid(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    publish_ahead(&*store, 5).await;
    let past = Window::Within(until(0));
    let whole_hours = period(now().saturating_sub(HOUR * 3), now().saturating_sub(HOUR));
    let history = HistoryQuery { selector: AreaSelector::default(), period: until(10) };
    for validity in [
        reports(&*store, past).await.validity,
        summary(&*store, past).await.validity,
        gauges(&*store, past).await.validity,
        series(&*store, whole_hours).await.validity,
        // No area has a change later than `now`.
        store.flood_archive(&history).await.unwrap().validity,
        store.flood_series(&history).await.unwrap().validity,
    ] {
        assert!(
            validity.covers(now()) && validity.covers(now().saturating_add(HOUR * 24 * 365)),
            "{validity:?}"
        );
    }
}

pub async fn an_empty_result_is_valid_until_a_report_appears(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    publish_ahead(&*store, 5).await;
    let this_moment = Window::Last(Duration::ZERO);
    let end = validity_end(&clock, async || reports(&*store, this_moment).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)));
    // The window contains the report only during the millisecond of its creation time.
    let end = validity_end(&clock, async || reports(&*store, this_moment).await).await;
    assert_eq!(end, now().saturating_add(minutes(5)).saturating_add(MILLISECOND));
}
