//! The interface over HTTP, on the store in Postgres.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "suite.rs"]
mod suite;

#[path = "../common/postgres.rs"]
mod postgres;

mod backend {
    use rocket::tokio::sync::OnceCell;
    use siaga::stores::postgres::OpenPostgres;
    use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

    use crate::postgres::Database;
    pub(crate) use crate::suite::OpenFixture;

    pub(crate) type Data = Database;

    pub(crate) async fn open(
        data: &OnceCell<Data>,
        settings: &StoreSettings,
    ) -> Result<OpenedStore, OpenError> {
        let database = data.get_or_init(Database::with_fixture).await;
        let mut settings = settings.clone();
        settings.figment = settings.figment.merge(database.figment());
        OpenPostgres.open(&settings).await
    }
}
