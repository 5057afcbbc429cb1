//! The interface over HTTP, on the store in memory.

include!("suite.rs");

mod backend {
    use std::sync::Arc;

    use async_trait::async_trait;
    use siaga::conformance::fixture;
    use siaga::stores::memory::MemoryStore;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

    /// Opens a store in memory that holds the fixture.
    #[derive(Debug, Default)]
    pub(crate) struct OpenFixture {}

    #[async_trait]
    impl OpenStore for OpenFixture {
        fn name(&self) -> &'static str {
            "fixture"
        }

        fn keeps_data(&self) -> bool {
            true
        }

        async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
            let store = MemoryStore::new(fixture::dataset(), Arc::clone(&settings.clock));
            Ok(OpenedStore::new(Arc::new(store)))
        }
    }
}
