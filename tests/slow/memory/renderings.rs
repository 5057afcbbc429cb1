//! How much memory large responses take that are asked for at once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::futures::future::join_all;
use rocket::tokio::{self, time};
use siaga::folder::Dataset;
use siaga::model::{DisasterType, Report, Tags};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

use super::{Before, MIB, is_alone};
use crate::fixture::{self, block_on};
use crate::large_map::service;

/// What large responses may take.
const LIMIT: u64 = 64 * MIB;
/// A list of them is about 7 MiB.
const REPORTS: u64 = 15_000;
/// How many lists are asked for at once: together some 200 MiB.
const REQUESTS: u64 = 30;

/// Opens a store in memory with many reports.
#[derive(Debug)]
struct OpenReports;

#[async_trait]
impl OpenStore for OpenReports {
    fn name(&self) -> &'static str {
        "large"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let report = |number: u64| Report {
            key: number.try_into().unwrap(),
            content: fixture::content(DisasterType::Flood, 60 + number, fixture::place(0.5, 0.5)),
            tags: Tags::default(),
        };
        let dataset = Dataset { reports: (1..=REPORTS).map(report).collect(), ..fixture::dataset() };
        Ok(OpenedStore::new(Arc::new(MemoryStore::new(dataset, Arc::clone(&settings.clock)))))
    }
}

/// All reports, by an address of its own.
fn archive(number: u64) -> String {
    let start = fixture::now().before(Duration::from_hours(24 * 300) + Duration::from_millis(number));
    format!("/v1/reports/archive?start={start}&end={}", fixture::now())
}

#[test]
fn distinct_archives_asked_for_at_once_take_no_more_memory_than_their_limit() {
    if !is_alone(
        "memory::renderings::distinct_archives_asked_for_at_once_take_no_more_memory_than_their_limit",
    ) {
        return;
    }
    block_on(async {
        let client = service(OpenReports, |figment| {
            let figment =
                figment.merge(("siaga.limits.rendering", LIMIT)).merge(("siaga.cache.size", "1MiB"));
            figment.merge(("siaga.limits.timeout", "10s"))
        })
        .await;
        // What is made once is there.
        client.get(archive(0)).dispatch().await.into_bytes().await.unwrap();
        client.get("/v1/floods/states").dispatch().await;
        let before = Before::now();

        let addresses: Vec<_> = (1..=REQUESTS).map(archive).collect();
        // The responses are held as by clients that read slowly.
        let asked = join_all(addresses.iter().map(|address| client.get(address.as_str()).dispatch()));
        let others = async {
            // While the large ones are rendered.
            time::sleep(Duration::from_secs(1)).await;
            client.get("/v1/reports").dispatch().await.status().code
        };
        let (responses, other) = tokio::join!(asked, others);
        assert_eq!(other, 200, "small responses do not wait for them");
        let taken = before.peak();
        assert!(taken < LIMIT + 24 * MIB, "{} MiB", taken / MIB);

        let statuses: Vec<_> = responses.iter().map(|response| response.status().code).collect();
        let ok = statuses.iter().filter(|status| **status == 200).count();
        assert!((2..20).contains(&ok), "{statuses:?}");
        let unavailable = responses.iter().filter(|response| response.status().code == 503);
        assert_eq!(unavailable.clone().count(), statuses.len() - ok, "{statuses:?}");
        assert!(unavailable.clone().all(|response| response.headers().contains("Retry-After")));

        drop(responses);
        let response = client.get(archive(REQUESTS + 1)).dispatch().await;
        assert_eq!(response.status().code, 200, "their memory is given back");
        assert!(response.into_bytes().await.unwrap().len() as u64 > 5 * MIB);

        // Requests that are given up at once, each for another list.
        for number in 0..2 * REQUESTS {
            let address = archive(100 + number);
            let request = client.get(address.as_str());
            drop(time::timeout(Duration::from_millis(20), request.dispatch()).await);
        }
        let taken = before.peak();
        assert!(taken < LIMIT + 24 * MIB, "{} MiB", taken / MIB);
        assert_eq!(client.get("/v1/floods").dispatch().await.status().code, 200);
    });
}
