//! The interface over HTTP, on the store in memory.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "independent.rs"]
mod independent;
#[path = "suite.rs"]
mod suite;

mod backend {
    use std::sync::Arc;

    use rocket::tokio::sync::OnceCell;
    use siaga::stores::memory::MemoryStore;
    use siaga::stores::{OpenError, OpenedStore, StoreSettings};

    use crate::fixture;
    pub(crate) use crate::suite::OpenFixture;

    pub(crate) type Data = Arc<MemoryStore>;

    pub(crate) async fn open(
        data: &OnceCell<Data>,
        settings: &StoreSettings,
    ) -> Result<OpenedStore, OpenError> {
        let clock = Arc::clone(&settings.clock);
        let store = data.get_or_init(async || Arc::new(MemoryStore::new(fixture::dataset(), clock))).await;
        Ok(OpenedStore::new(Arc::clone(store) as _))
    }
}
