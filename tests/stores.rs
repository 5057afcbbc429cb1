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
