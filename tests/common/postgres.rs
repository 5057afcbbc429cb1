//! Databases for tests: each test has its own, copied from one that holds the fixture.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use figment::Figment;
use figment::providers::Serialized;
use rocket::tokio::sync::OnceCell;
use siaga::folder::{Folder, FolderWriter};
use siaga::model::ManualClock;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, Replace, StoreSettings};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::fixture;

/// The URL of a database whose user may create others. Required by all tests with a database.
fn maintenance() -> String {
    env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL: run the tests by tests/with-postgres")
}

/// A database of one test; dropped with the value.
#[derive(Debug)]
pub(crate) struct Database {
    name: String,
}

impl Database {
    pub(crate) async fn empty() -> Self {
        Self::copy_of("template0").await
    }

    pub(crate) async fn with_fixture() -> Self {
        static TEMPLATE: OnceCell<Database> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let template = Self::empty().await;
            template.fill_with_fixture().await;
            template
        });
        Self::copy_of(&template.await.name).await
    }

    async fn copy_of(template: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("siaga_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&maintenance()).await.expect("the database for tests");
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        connection.execute(AssertSqlSafe(create)).await.expect("a database for a test");
        connection.close().await.expect("an end of the connection");
        Self { name }
    }

    async fn fill_with_fixture(&self) {
        let folder = tempfile::tempdir().unwrap();
        fixture::dataset().save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
        let settings = self.settings();
        let upkeep = OpenPostgres.upkeep().unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        upkeep.import(&settings, &folder, Replace::Nothing).await.unwrap();
    }

    pub(crate) fn url(&self) -> String {
        let maintenance = maintenance();
        format!("{}/{}", maintenance.rsplit_once('/').unwrap().0, self.name)
    }

    pub(crate) fn figment(&self) -> Figment {
        Figment::from(Serialized::default("databases.siaga.url", self.url()))
    }

    pub(crate) fn settings(&self) -> StoreSettings {
        StoreSettings::new(self.figment(), Arc::new(ManualClock::new(fixture::now())))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // The test's own runtime may be gone, or be the one that drops this.
        let dropping = std::thread::spawn(move || {
            let runtime = rocket::tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                if let Ok(mut connection) = PgConnection::connect(&maintenance()).await {
                    // A database that cannot be dropped is removed with the cluster.
                    let _ = connection.execute(AssertSqlSafe(drop)).await;
                }
            });
        });
        let _ = dropping.join();
    }
}
