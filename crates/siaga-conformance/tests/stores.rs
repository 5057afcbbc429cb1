//! The store suite on every store.

#[path = "../../../tests/common/postgres.rs"]
mod database;
#[path = "../../../tests/common/file.rs"]
mod store_file;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use siaga::model::Clock;
use siaga::stores::file::OpenFile;
use siaga::stores::memory::MemoryStore;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{Decorator, OpenStore, Store};
use siaga_conformance::stores::FreshStore;
use siaga_conformance::{fixture, store_suite};

use self::database::Database;
use self::store_file::StoreFile;

struct Memory;

#[async_trait]
impl FreshStore for Memory {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(fixture::dataset(), clock))
    }
}

mod memory {
    use super::*;

    store_suite!(Memory);
}

struct Postgres;

#[async_trait]
impl FreshStore for Postgres {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let database = Database::with_fixture().await;
        let mut settings = database.settings();
        settings.clock = clock;
        // Never drops the database, because the store outlives this function. The database is removed with its cluster.
        std::mem::forget(database);
        OpenPostgres.open(&settings).await.unwrap().store
    }
}

mod postgres {
    use super::*;

    store_suite!(Postgres);
}

struct File;

#[async_trait]
impl FreshStore for File {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let file = StoreFile::with_fixture().await;
        let mut settings = file.settings();
        settings.clock = clock;
        let store = OpenFile.open(&settings).await.unwrap().store;
        Arc::new(WithFile { store, _file: file })
    }
}

/// Keeps the file as long as its store. Also tests that each method is delegated, because this decorator changes nothing.
#[derive(Debug)]
struct WithFile {
    store: Arc<dyn Store>,
    _file: StoreFile,
}

impl fmt::Display for WithFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Decorator for WithFile {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }
}

mod file {
    use super::*;

    store_suite!(File);
}

/// How long changes take in a large store.
mod large {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use siaga::model::{Card, ManualClock, Report};
    use siaga::stores::ModerationStore;
    use siaga::stores::memory::MemoryStore;
    use siaga_conformance::{block_on, fixture};

    const BATCHES: u32 = 5;
    const BATCH: u32 = 500;

    /// Returns the time of the fastest of several batches, with this many cards stored.
    fn fastest(cards: u64) -> Duration {
        let mut dataset = fixture::dataset();
        let old = fixture::now().saturating_sub(Duration::from_hours(24));
        let reports = u64::from(BATCHES * BATCH);
        let (report, card) = (dataset.reports[0].clone(), dataset.cards[0].clone());
        for number in 100..100 + reports {
            let mut report = Report { key: number.try_into().unwrap(), ..report.clone() };
            report.content.created_at = old;
            dataset.reports.push(report);
        }
        for number in 100..100 + cards {
            let id = format!("card-{number}").parse().unwrap();
            let report = (number < 100 + reports).then(|| number.try_into().unwrap());
            dataset.cards.push(Card { pkey: number, id, report, ..card.clone() });
        }
        let store = MemoryStore::new(dataset, Arc::new(ManualClock::new(fixture::now())));
        let batch = || {
            let begun = Instant::now();
            let erased =
                block_on(store.erase_reports(old.saturating_add(Duration::from_secs(1)), BATCH)).unwrap();
            assert_eq!(erased, u64::from(BATCH));
            begun.elapsed()
        };
        (0..BATCHES).map(|_| batch()).min().unwrap()
    }

    #[test]
    fn erasing_old_reports_takes_about_as_long_however_many_cards_there_are() {
        let (few, many) = (fastest(5_000), fastest(200_000));
        assert!(many < few * 10, "{many:?} instead of {few:?}");
    }
}
