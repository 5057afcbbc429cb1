//! The interface over HTTP, on the store in one file.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "suite.rs"]
mod suite;

#[path = "../common/file.rs"]
mod store_file;

mod backend {
    use std::sync::Arc;

    use async_trait::async_trait;
    use rocket::tokio::sync::OnceCell;
    use siaga::stores::file::OpenFile;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, Store, StoreSettings};

    use crate::store_file::StoreFile;

    /// Opens a store in a file of its own that holds the fixture, the same for all servers of a test.
    #[derive(Debug, Default)]
    pub(crate) struct OpenFixture {
        opened: OnceCell<(StoreFile, Arc<dyn Store>)>,
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
            let opening = || async {
                let file = StoreFile::with_fixture().await;
                let mut settings = settings.clone();
                settings.figment = settings.figment.merge(file.figment());
                let store = OpenFile.open(&settings).await?.store;
                Ok::<_, OpenError>((file, store))
            };
            let (_, store) = self.opened.get_or_try_init(opening).await?;
            Ok(OpenedStore::new(Arc::clone(store)))
        }
    }
}
