//! The agency's service on an audited store with the data of Siaga's suites.

use std::sync::Arc;

use agency::audit::OpenAudited;
use async_trait::async_trait;
use figment::Figment;
use rocket::local::blocking::Client;
use siaga::model::ManualClock;
use siaga::stores::memory::MemoryStore;
use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};
use siaga_conformance::{block_on, fixture};

#[derive(Debug)]
struct OpenFixture;

#[async_trait]
impl OpenStore for OpenFixture {
    fn name(&self) -> &'static str {
        "fixture"
    }

    fn keeps_data(&self) -> bool {
        false
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let store = MemoryStore::new(fixture::dataset(), Arc::clone(&settings.clock));
        Ok(OpenedStore::new(Arc::new(store)))
    }
}

/// An in-process client of the service.
pub(crate) fn service() -> Client {
    let figment = Figment::from(rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        ..rocket::Config::debug_default()
    })
    .merge(("siaga.store", "audited-fixture"))
    .merge(("siaga.formats.enabled", ["topojson", "flatgeobuf"]))
    .merge(("siaga.images.url", "memory:///"));
    let builder = agency::builder()
        .figment(figment)
        .clock(Arc::new(ManualClock::new(fixture::now())))
        .store(Arc::new(OpenAudited::new(OpenFixture)));
    Client::untracked(block_on(builder.build()).unwrap().rocket).unwrap()
}
