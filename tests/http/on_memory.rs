//! The interface over HTTP, on the store in memory.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "independent.rs"]
mod independent;
#[path = "suite.rs"]
mod suite;

mod backend {
    use std::sync::{Arc, OnceLock};

    use async_trait::async_trait;
    use siaga::stores::memory::MemoryStore;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

    use crate::fixture;

    /// Opens a store in memory that holds the fixture, the same for all who ask.
    #[derive(Debug, Default)]
    pub(crate) struct OpenFixture {
        store: OnceLock<Arc<MemoryStore>>,
    }

    #[async_trait]
    impl OpenStore for OpenFixture {
        fn name(&self) -> &'static str {
            "fixture"
        }

        fn keeps_data(&self) -> bool {
            true
        }

        async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
            let clock = Arc::clone(&settings.clock);
            let store = self.store.get_or_init(|| Arc::new(MemoryStore::new(fixture::dataset(), clock)));
            Ok(OpenedStore::new(Arc::clone(store) as _))
        }
    }
}
