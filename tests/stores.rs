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

#[path = "common/postgres.rs"]
mod database;

mod postgres {
    use std::sync::Arc;

    use async_trait::async_trait;
    use siaga::conformance::stores::FreshStore;
    use siaga::model::Clock;
    use siaga::store_suite;
    use siaga::stores::postgres::OpenPostgres;
    use siaga::stores::{OpenStore, Store, StoreSettings};

    use super::database::Database;

    struct Postgres;

    #[async_trait]
    impl FreshStore for Postgres {
        async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
            let database = Database::with_fixture().await;
            let settings = StoreSettings { clock, ..database.settings() };
            // The store outlives this function, and so must its database; it goes with the cluster.
            std::mem::forget(database);
            OpenPostgres.open(&settings).await.unwrap().store
        }
    }

    store_suite!(Postgres);
}
