//! The interface over HTTP, on the store in Postgres.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "suite.rs"]
mod suite;

#[path = "../common/postgres.rs"]
mod postgres;

mod backend {
    use async_trait::async_trait;
    use rocket::tokio::sync::OnceCell;
    use siaga::stores::postgres::OpenPostgres;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

    use crate::postgres::Database;

    /// Opens a store in a database of its own that holds the fixture.
    #[derive(Debug, Default)]
    pub(crate) struct OpenFixture {
        database: OnceCell<Database>,
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
            let database = self.database.get_or_init(Database::with_fixture).await;
            let mut settings = settings.clone();
            settings.figment = settings.figment.merge(database.figment());
            OpenPostgres.open(&settings).await
        }
    }
}
