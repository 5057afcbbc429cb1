//! The interface over HTTP, on the store in one file.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "suite.rs"]
mod suite;

#[path = "../common/file.rs"]
mod store_file;

mod backend {
    use std::sync::Arc;

    use rocket::tokio::sync::OnceCell;
    use siaga::stores::file::OpenFile;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, Store, StoreSettings};

    use crate::store_file::StoreFile;
    pub(crate) use crate::suite::OpenFixture;

    pub(crate) type Data = (StoreFile, Arc<dyn Store>);

    pub(crate) async fn open(
        data: &OnceCell<Data>,
        settings: &StoreSettings,
    ) -> Result<OpenedStore, OpenError> {
        let opening = || async {
            let file = StoreFile::with_fixture().await;
            let mut settings = settings.clone();
            settings.figment = settings.figment.merge(file.figment());
            let store = OpenFile.open(&settings).await?.store;
            Ok::<_, OpenError>((file, store))
        };
        let (_, store) = data.get_or_try_init(opening).await?;
        Ok(OpenedStore::new(Arc::clone(store)))
    }
}
