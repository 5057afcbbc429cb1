//! Gauges and their readings.

use std::time::Duration;

use super::{FreshStore, open};
use crate::fixture::{place, reading};
use siaga::model::bodies::{GaugeReadings, SettingsUpdate, Update};
use siaga::model::{Actor, AlertLevel, AreaSelector, GaugeSettings, Mute, ReportedAlert, Thresholds};
use siaga::stores::{GaugeQuery, Resource, Store, StoreError, Window};

fn last(hours: u64) -> GaugeQuery {
    GaugeQuery {
        selector: AreaSelector::default(),
        window: Window::Last(Duration::from_hours(hours)),
        with_failed: true,
    }
}

async fn levels(store: &dyn Store, query: &GaugeQuery) -> Vec<(String, Vec<f64>)> {
    let layer = store.gauges(query).await.unwrap().value;
    let observed_levels = |observed: &siaga::model::ObservedGauge| {
        observed.observations.iter().map(|reading| reading.level).collect()
    };
    layer.0.iter().map(|observed| (observed.gauge.id.clone(), observed_levels(observed))).collect()
}

fn expect(gauges: &[(&str, &[f64])]) -> Vec<(String, Vec<f64>)> {
    gauges.iter().map(|(id, levels)| ((*id).to_owned(), levels.to_vec())).collect()
}

fn sent(id: &str, x: f64, readings: &[(u64, f64)]) -> GaugeReadings {
    GaugeReadings {
        id: id.to_owned(),
        name: "renamed".to_owned(),
        location: place(x, 1.0),
        settings: SettingsUpdate::default(),
        observations: readings.iter().map(|&(minutes, level)| reading(minutes, level).into()).collect(),
    }
}

pub async fn gauges_are_listed_by_identifier_with_the_readings_of_the_window(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let hour = expect(&[("TMA00001", &[30.0, 40.5]), ("TMA00002", &[-165.0])]);
    assert_eq!(levels(&*store, &last(1)).await, hour);
    let day = expect(&[("TMA00001", &[20.0, 30.0, 40.5]), ("TMA00002", &[-165.0]), ("TMA00003", &[100.0])]);
    assert_eq!(levels(&*store, &last(24)).await, day);
    clock.set(crate::fixture::now().saturating_sub(Duration::from_mins(30)));
    assert_eq!(levels(&*store, &last(1)).await, expect(&[("TMA00001", &[20.0, 30.0])]), "none of the future");
}

pub async fn a_selector_leaves_out_gauges_of_other_provinces(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for selector in [
        AreaSelector { city: None, region: Some("ID-JK".to_owned()) },
        AreaSelector { city: Some("ID-JK".to_owned()), region: None },
    ] {
        let query = GaugeQuery { selector, ..last(1) };
        assert_eq!(levels(&*store, &query).await, expect(&[("TMA00001", &[30.0, 40.5])]));
    }
}

pub async fn every_gauge_is_listed_without_readings(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let all = async || {
        let listed = store.all_gauges().await.unwrap();
        assert!(listed.value.0.iter().all(|observed| observed.observations.is_empty()));
        let gauges = listed
            .value
            .0
            .iter()
            .map(|observed| (observed.gauge.id.clone(), observed.gauge.name.clone()))
            .collect();
        (listed.revision, gauges)
    };
    let known: Vec<_> = crate::fixture::gauges()
        .iter()
        .map(|observed| (observed.gauge.id.clone(), observed.gauge.name.clone()))
        .collect();
    let (revision, listed): (_, Vec<_>) = all().await;
    assert_eq!(listed, known);
    clock.set(crate::fixture::now().saturating_add(Duration::from_hours(24 * 400)));
    assert_eq!(all().await, (revision, known), "time changes nothing");
    store.store_gauge(sent("TMA00000", 0.0, &[(5, 41.0)])).await.unwrap();
    let (later, listed) = all().await;
    assert_eq!(listed[0], ("TMA00000".to_owned(), "renamed".to_owned()));
    assert!(later > revision);
}

pub async fn recent_readings_are_those_since_a_time_and_at_least_21(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let all: Vec<_> = (1..=30).map(|minutes| (minutes, minutes as f64)).collect();
    store.store_gauge(sent("TMA00003", 1.0, &all)).await.unwrap();
    let recent = async |minutes| {
        let since = crate::fixture::now().saturating_sub(Duration::from_mins(minutes));
        let read = store.recent_readings(since).await.unwrap();
        let ids: Vec<_> = read.value.0.iter().map(|gauge| gauge.gauge.id.clone()).collect();
        assert_eq!(ids, ["TMA00001", "TMA00002", "TMA00003"]);
        let levels = |gauge: &siaga::model::ObservedGauge| -> Vec<_> {
            gauge.observations.iter().map(|reading| reading.level).collect()
        };
        (read.revision, levels(&read.value.0[0]), levels(&read.value.0[2]))
    };
    let newest_first = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
    let (revision, few, many) = recent(10).await;
    assert_eq!(few, [20.0, 30.0, 40.5], "older ones of a gauge with few");
    assert_eq!(many, newest_first(21));
    assert_eq!(recent(25).await.2, newest_first(25));
    assert_eq!(recent(400).await.2, [&[100.0][..], &newest_first(30)].concat());
    clock.set(crate::fixture::now().saturating_add(Duration::from_hours(24 * 400)));
    assert_eq!(recent(25).await, (revision, few, newest_first(25)), "time changes nothing");
}

pub async fn a_muted_gauge_stays_muted_over_readings_and_its_log_is_newest_first(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let now = crate::fixture::now();
    let by = Actor { subject: "bpbd".to_owned(), username: Some("desk 2".to_owned()) };
    let until = Some(now.saturating_add(Duration::from_hours(1)));
    let muted = Mute { at: now, until, reason: "under repair".into(), by: by.clone() };
    let ended = Mute { at: now.saturating_add(Duration::from_mins(1)), until: None, reason: "".into(), by };
    let newest = async || {
        let gauges = store.gauges(&last(1)).await.unwrap();
        let all = store.all_gauges().await.unwrap().value.0;
        let mute = gauges.value.0[0].gauge.mute.clone();
        assert_eq!(all[0].gauge.mute, mute);
        (gauges.revision, mute)
    };
    let (before, none) = newest().await;
    assert_eq!(none, None);
    assert_eq!(store.gauge_log("TMA00001").await.unwrap(), []);
    store.mute_gauge("TMA00001", muted.clone()).await.unwrap();
    store.store_gauge(sent("TMA00001", 0.0, &[(5, 41.0)])).await.unwrap();
    let (after, mute) = newest().await;
    assert_eq!(mute.as_ref(), Some(&muted));
    assert!(before < after, "responses change");
    store.mute_gauge("TMA00001", ended.clone()).await.unwrap();
    assert_eq!(newest().await.1.as_ref(), Some(&ended));
    assert_eq!(store.gauge_log("TMA00001").await.unwrap(), [ended, muted.clone()]);
    assert_eq!(store.gauge_log("TMA00002").await.unwrap(), []);
    for missing in [store.mute_gauge("X", muted).await, store.gauge_log("X").await.map(drop)] {
        assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    }
}

pub async fn counting_readings_matches_the_list_up_to_a_limit(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let selector = AreaSelector { city: None, region: Some("ID-JK".to_owned()) };
    for query in [last(1), last(24), GaugeQuery { selector, ..last(1) }] {
        let listed: usize = levels(&*store, &query).await.iter().map(|(_, levels)| levels.len()).sum();
        for most in [0, 1, 2, 1_000, u64::MAX] {
            let counted = store.count_readings(&query, most).await.unwrap();
            assert_eq!(counted, most.min(listed as u64), "{query:?} up to {most}");
        }
    }
}

pub async fn readings_are_replaced_by_time(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = store.revision(Resource::Gauges).await.unwrap();
    let readings = sent("TMA00001", 0.0, &[(5, 41.0), (3, 50.0), (3, 51.0)]);
    for _ in 0..2 {
        assert_eq!(store.store_gauge(readings.clone()).await.unwrap(), 2, "two different times");
        let expected = expect(&[("TMA00001", &[30.0, 41.0, 51.0]), ("TMA00002", &[-165.0])]);
        assert_eq!(levels(&*store, &last(1)).await, expected);
    }
    let gauges = store.gauges(&last(1)).await.unwrap();
    store.store_gauge(readings).await.unwrap();
    let again = store.revision(Resource::Gauges).await.unwrap();
    assert_eq!(again, gauges.revision, "the same readings change nothing");
    assert_eq!(gauges.value.0[0].gauge.name, "renamed");
    assert_eq!(gauges.value.0[0].gauge.region_code.as_deref(), Some("ID-JK"), "kept");
    assert!(gauges.revision > before);
}

pub async fn a_new_gauge_belongs_to_the_province_it_lies_in(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for (id, x, region) in [("A", 8.0, Some("ID-JB")), ("B", 60.0, None)] {
        store.store_gauge(sent(id, x, &[(1, 1.0)])).await.unwrap();
        let gauges = store.gauges(&last(1)).await.unwrap().value.0;
        let stored = gauges.iter().find(|observed| observed.gauge.id == id).unwrap();
        assert_eq!(stored.gauge.region_code.as_deref(), region);
    }
    // A gauge that moves gets the province of its new place. A gauge that stays keeps its province.
    store.store_gauge(sent("TMA00001", 8.0, &[])).await.unwrap();
    store.store_gauge(sent("TMA00002", 7.0, &[])).await.unwrap();
    let selector = AreaSelector { city: None, region: Some("ID-JB".to_owned()) };
    let listed = levels(&*store, &GaugeQuery { selector, ..last(1) }).await;
    assert_eq!(listed, expect(&[("A", &[1.0]), ("TMA00001", &[30.0, 40.5]), ("TMA00002", &[-165.0])]));
}

pub async fn settings_of_a_gauge_stay_until_they_are_changed(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let thresholds = Thresholds::new([Some(950.0), Some(850.25), None]).unwrap();
    let update = SettingsUpdate {
        thresholds: Update::Set(thresholds),
        range: Update::Set([-50.0, 1e3]),
        every: Update::Set(600),
    };
    let bare = |minutes, level, settings: SettingsUpdate| {
        let mut readings = sent("TMA00003", 1.0, &[(minutes, level)]);
        readings.observations[0].alert = None;
        GaugeReadings { settings, ..readings }
    };
    let listed = async || {
        let layer = store.gauges(&last(1)).await.unwrap().value;
        let gauge = layer.0.iter().find(|gauge| gauge.gauge.id == "TMA00003").unwrap();
        (gauge.gauge.settings, gauge.observations.iter().map(|reading| reading.alert).collect::<Vec<_>>())
    };
    store.store_gauge(bare(30, 850.25, update)).await.unwrap();
    let all = GaugeSettings { thresholds: Some(thresholds), range: Some([-50.0, 1e3]), every: Some(600) };
    assert_eq!(listed().await, (all, vec![AlertLevel::Alert]));
    store.store_gauge(bare(20, 950.0, SettingsUpdate::default())).await.unwrap();
    assert_eq!(listed().await, (all, vec![AlertLevel::Alert, AlertLevel::Critical]));
    let removed = SettingsUpdate { thresholds: Update::Remove, range: Update::Keep, every: Update::Remove };
    let missing = store.store_gauge(bare(10, 1.0, removed.clone())).await.unwrap_err();
    assert!(
        matches!(&missing, StoreError::Invalid { key, .. } if key == "observations.0.alert"),
        "{missing:?}"
    );
    assert_eq!(listed().await.0, all, "nothing was stored");
    store
        .store_gauge(GaugeReadings { settings: removed, ..sent("TMA00003", 1.0, &[(10, 1.0)]) })
        .await
        .unwrap();
    let rest = GaugeSettings { range: all.range, ..GaugeSettings::default() };
    assert_eq!(listed().await, (rest, vec![AlertLevel::Alert, AlertLevel::Critical, AlertLevel::Normal]));
    let all_gauges = store.all_gauges().await.unwrap().value;
    assert!(all_gauges.0.iter().any(|gauge| gauge.gauge.settings.range == all.range));
}

pub async fn what_was_reported_is_kept_beside_a_worse_level(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let thresholds = Thresholds::new([None, Some(850.0), None]).unwrap();
    let settings = SettingsUpdate { thresholds: Update::Set(thresholds), ..SettingsUpdate::default() };
    store.store_gauge(GaugeReadings { settings, ..sent("TMA00003", 1.0, &[(30, 900.0)]) }).await.unwrap();
    let layer = store.gauges(&last(1)).await.unwrap().value;
    let gauge = layer.0.iter().find(|gauge| gauge.gauge.id == "TMA00003").unwrap();
    let reported = ReportedAlert { alert: 4, label: "SIAGA IV".into() };
    assert_eq!(
        (gauge.observations[0].alert, gauge.observations[0].reported.as_ref()),
        (AlertLevel::Alert, Some(&reported))
    );
}

pub async fn erased_readings_are_gone_and_later_ones_stay(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let before = crate::fixture::now().saturating_sub(Duration::from_hours(1));
    store.erase_readings(before).await.unwrap();
    let all = levels(&*store, &last(24 * 7)).await;
    assert_eq!(all, expect(&[("TMA00001", &[30.0, 40.5]), ("TMA00002", &[-165.0])]));
    assert_eq!(store.count_readings(&last(24 * 7), 10).await.unwrap(), 3);
}

pub async fn readings_of_many_days_are_listed_and_replaced(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let hours = |hours: u64| (60 * hours, hours as f64);
    let all: Vec<_> = (0..200).map(hours).collect();
    store.store_gauge(sent("TMA00003", 1.0, &all)).await.unwrap();
    // A gauge that is heard again, so that old readings need not be in memory.
    store.store_gauge(sent("TMA00003", 1.0, &[(1, 500.0)])).await.unwrap();
    let listed = async |query: GaugeQuery| {
        let read = store.gauges(&query).await.unwrap();
        let counted = store.count_readings(&query, 1_000).await.unwrap();
        let count: usize = read.value.0.iter().map(|gauge| gauge.observations.len()).sum();
        assert_eq!(counted, count as u64);
        let gauge = read.value.0.into_iter().find(|gauge| gauge.gauge.id == "TMA00003").unwrap();
        gauge.observations.iter().map(|reading| reading.level).collect::<Vec<_>>()
    };
    // The fixture has a reading of five hours ago, which was replaced.
    assert_eq!(listed(last(24)).await.len(), 26);
    assert_eq!(listed(last(168)).await.len(), 170);
    let selector = AreaSelector { city: None, region: Some("ID-JK".to_owned()) };
    assert_eq!(listed(GaugeQuery { selector, ..last(168) }).await.len(), 170);
    let past = |hours: u64| crate::fixture::now().saturating_sub(Duration::from_hours(hours));
    let period = siaga::model::Period::new(past(190), past(180), Duration::MAX).unwrap();
    let week_ago = GaugeQuery { window: Window::Within(period), ..last(1) };
    assert_eq!(listed(week_ago.clone()).await, (180..=190).rev().map(f64::from).collect::<Vec<_>>());
    let revision = store.revision(Resource::Gauges).await.unwrap();
    store.store_gauge(sent("TMA00003", 1.0, &[(60 * 185, -1.0)])).await.unwrap();
    assert_eq!(listed(week_ago).await[5], -1.0, "replaced");
    assert!(store.revision(Resource::Gauges).await.unwrap() > revision);
    clock.set(crate::fixture::now().saturating_add(Duration::from_hours(1)));
    assert_eq!(listed(last(168)).await.len(), 169, "the oldest has left");
}
