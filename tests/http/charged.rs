//! The cost of a response depends on what the service reads, not on what it returns. On a large map.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use rocket::local::asynchronous::Client;
use siaga::Siaga;
use siaga::model::alerts::LogEntry;
use siaga::model::{AreaId, AreaSelector, Clock, FloodLayer, ManualClock};
use siaga::stores::{Decorator, EntryQuery, FloodQuery, Store, StoreError, Versioned};

use crate::fixture::{block_on, now};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

use super::large_map::OpenLarge;

/// 16,384 areas, all flooded.
const MAP: OpenLarge = OpenLarge { side: 128, points: 1 };
const BURST: usize = 40;

/// Number of reads of all floods or logs, and of counts of log entries.
#[derive(Debug, Default)]
struct Reads {
    whole: AtomicUsize,
    counts: AtomicUsize,
}

#[async_trait]
impl Decorator for Wrapped<Arc<Reads>> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError> {
        self.by.whole.fetch_add(1, Ordering::SeqCst);
        self.inner.floods(query).await
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        if query.selector == AreaSelector::default() {
            self.by.whole.fetch_add(1, Ordering::SeqCst);
        }
        self.inner.flood_entries(query).await
    }

    async fn count_flood_entries(&self, query: &EntryQuery, most: u64) -> Result<u64, StoreError> {
        self.by.counts.fetch_add(1, Ordering::SeqCst);
        self.inner.count_flood_entries(query, most).await
    }
}

/// A public service with a quota that hardly refills during a test, and the read counts of its store.
async fn service() -> (Client, Arc<Reads>) {
    let reads = Arc::new(Reads::default());
    let opener = OpenWrapped::new(MAP, Arc::clone(&reads));
    let figment = crate::suite::support::figment()
        .merge(("siaga.base_url", "https://flood.example/v1"))
        .merge(("siaga.quota.per_second", 1))
        .merge(("siaga.quota.burst", BURST));
    let builder = Siaga::builder().figment(figment).store(opener);
    let clock = Arc::new(ManualClock::new(now()));
    let built = builder.clock(clock as Arc<dyn Clock>).build().await.unwrap();
    (Client::untracked(built.rocket).await.unwrap(), reads)
}

async fn statuses(client: &Client, addresses: impl IntoIterator<Item = String>) -> Vec<u16> {
    let mut all = Vec::new();
    for address in addresses {
        let from = SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), 4711);
        all.push(client.get(address).remote(from).dispatch().await.status().code);
    }
    all
}

/// Addresses for each second of an hour.
fn seconds(before: &'static str, after: &'static str) -> impl Iterator<Item = String> {
    (0..30).map(move |second| format!("{before}2016-12-19T15:00:{second:02}Z{after}"))
}

#[test]
fn reading_the_whole_map_or_its_log_costs_several_requests_even_for_a_small_response() {
    block_on(async {
        let boxes = (0..30)
            .map(|part| format!("/v1/ogc/collections/alerts/items?limit=1&bbox=100,0,101,0.{part:02}1"));
        let of_city =
            ["atom", "rss", "html", "geojson"].into_iter().cycle().zip(1..=4).map(|(format, state)| {
                format!("/v1/alerts?geoformat={format}&city=jbd&minimum_state={state}")
            });
        let all: [(&str, Box<dyn Iterator<Item = String>>); 6] = [
            ("archive", Box::new(seconds("/v1/floods/archive?start=", "&end=2016-12-19T16:00:00Z"))),
            ("series", Box::new(seconds("/v1/floods/timeseries?start=", "&end=2016-12-19T16:00:00Z"))),
            ("floods then", Box::new(seconds("/v1/ogc/collections/floods/items?limit=1&datetime=", ""))),
            ("alerts then", Box::new(seconds("/v1/ogc/collections/alerts/items?limit=1&datetime=", ""))),
            ("alerts in a box", Box::new(boxes)),
            ("alerts of a city", Box::new(of_city)),
        ];
        for (name, addresses) in all {
            let (client, _) = service().await;
            let statuses = statuses(&client, addresses).await;
            assert_eq!(statuses[0], 200, "{name}: {statuses:?}");
            assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{name}: {statuses:?}");
            assert!(statuses.contains(&429), "{name}: {statuses:?}");
        }
    });
}

#[test]
fn a_client_without_quota_for_a_period_is_rejected_before_its_entries_are_counted() {
    block_on(async {
        for (before, after) in [
            ("/v1/floods/archive?start=", "&end=2016-12-19T16:00:00Z"),
            ("/v1/ogc/collections/floods/items?limit=1&datetime=", ""),
        ] {
            let (client, reads) = service().await;
            let statuses = statuses(&client, seconds(before, after)).await;
            let rendered = statuses.iter().filter(|status| **status == 200).count();
            let counted = reads.counts.load(Ordering::SeqCst);
            assert!(
                rendered <= counted && counted <= rendered + 2 && counted < 15,
                "{counted}: {statuses:?}"
            );
        }
    });
}

#[test]
fn pages_and_single_features_of_one_revision_are_read_from_the_store_once() {
    block_on(async {
        let (client, reads) = service().await;
        let items = |collection| move |number| format!("/v1/ogc/collections/{collection}/items/{number}");
        let alerts = "/v1/ogc/collections/alerts/items?limit=1".to_owned();
        let warm = statuses(&client, [alerts, items("floods")(1)]).await;
        assert_eq!(warm, [200; 2]);
        let before = reads.whole.load(Ordering::SeqCst);
        let found = statuses(&client, (2..12).map(items("floods"))).await;
        assert_eq!(found, [200; 10]);
        let missing = statuses(&client, (0..10).map(items("alerts"))).await;
        assert_eq!(missing, [404; 10]);
        assert_eq!(reads.whole.load(Ordering::SeqCst), before);
    });
}
