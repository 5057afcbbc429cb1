//! The store suite on every store.

mod memory {
    use std::sync::Arc;

    use async_trait::async_trait;
    use siaga::conformance::fixture;
    use siaga::conformance::stores::FreshStore;
    use siaga::model::Clock;
    use siaga::store_suite;
    use siaga::stores::Store;
    use siaga::stores::memory::MemoryStore;

    struct Memory;

    #[async_trait]
    impl FreshStore for Memory {
        async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
            Arc::new(MemoryStore::new(fixture::dataset(), clock))
        }
    }

    store_suite!(Memory);
}

/// A decorator that does nothing differently.
mod decorated {
    use std::fmt;
    use std::sync::Arc;

    use async_trait::async_trait;
    use siaga::conformance::fixture;
    use siaga::conformance::stores::FreshStore;
    use siaga::model::Clock;
    use siaga::store_suite;
    use siaga::stores::memory::MemoryStore;
    use siaga::stores::{Decorator, Store};

    #[derive(Debug)]
    struct Plain(MemoryStore);

    impl fmt::Display for Plain {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl Decorator for Plain {
        fn inner(&self) -> &dyn Store {
            &self.0
        }
    }

    struct Decorated;

    #[async_trait]
    impl FreshStore for Decorated {
        async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
            Arc::new(Plain(MemoryStore::new(fixture::dataset(), clock)))
        }
    }

    store_suite!(Decorated);
}

#[path = "common/postgres.rs"]
mod database;

mod postgres {
    use std::sync::Arc;

    use async_trait::async_trait;
    use siaga::conformance::stores::FreshStore;
    use siaga::model::Clock;
    use siaga::store_suite;
    use siaga::stores::postgres::OpenPostgres;
    use siaga::stores::{OpenStore, Store};

    use super::database::Database;

    struct Postgres;

    #[async_trait]
    impl FreshStore for Postgres {
        async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
            let database = Database::with_fixture().await;
            let mut settings = database.settings();
            settings.clock = clock;
            // The store outlives this function, and so must its database; it goes with the cluster.
            std::mem::forget(database);
            OpenPostgres.open(&settings).await.unwrap().store
        }
    }

    store_suite!(Postgres);
}
