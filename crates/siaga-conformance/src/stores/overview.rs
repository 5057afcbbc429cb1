//! Numbers about the data, for an operator.

use std::sync::Arc;
use std::time::Duration;

use super::super::fixture::{content, now, place, reading};
use super::{FreshStore, open};
use siaga::model::bodies::{GaugeReadings, PartnerReport, SettingsUpdate};
use siaga::model::{DisasterType, Timestamp};
use siaga::stores::{Overview, Store};

async fn overview(store: &Arc<dyn Store>) -> Overview {
    store.overview().await.unwrap().expect("the store has an overview")
}

pub async fn the_overview_counts_areas_by_state_and_has_the_newest_times(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let found = overview(&store).await;
    assert_eq!(found.flooded_areas, [0, 1, 1, 0]);
    assert_eq!(found.newest_flood_change, Timestamp::parse("2016-12-19T13:41:35Z").ok());
    assert_eq!(found.newest_report, Some(now().saturating_sub(Duration::from_mins(5))));
    assert!(found.newest_reading.is_some_and(|newest| newest <= now()), "{found:?}");
}

pub async fn the_overview_excludes_future_dates(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let content = content(DisasterType::Flood, 0, place(0.5, 0.5));
    store.receive_partner_report(PartnerReport { post_id: 1, content }).await.unwrap();
    let mut ahead = reading(0, 2.0);
    ahead.observed_at = now().saturating_add(Duration::from_mins(1));
    let observations = vec![reading(0, 1.0).into(), ahead.into()];
    let gauge = GaugeReadings {
        id: "NEW".to_owned(),
        name: "Pos".to_owned(),
        location: place(0.5, 0.5),
        settings: SettingsUpdate::default(),
        observations,
    };
    store.store_gauge(gauge).await.unwrap();
    let found = overview(&store).await;
    assert_eq!((found.newest_report, found.newest_reading), (Some(now()), Some(now())));
    clock.set(now().saturating_add(Duration::from_mins(2)));
    let found = overview(&store).await;
    assert_eq!(found.newest_reading, Some(now().saturating_add(Duration::from_mins(1))));
}
