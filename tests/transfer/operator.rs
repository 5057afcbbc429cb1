//! A database as its operator sees it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use siaga::folder::{Folder, FolderFile, FolderWriter};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{Imported, OpenStore, Replace, Store, StoreSettings};
use sqlx::postgres::PgRow;
use sqlx::{Connection, FromRow, PgConnection};
use tempfile::TempDir;

use crate::database::Database;
use crate::folders::{contents, folder_of};

/// A database as its operator sees it.
pub(crate) struct Operator {
    pub(crate) settings: StoreSettings,
    pub(crate) database: Database,
}

/// Everything there is, and how often it has changed.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) files: BTreeMap<&'static str, String>,
    pub(crate) revisions: Vec<(String, i64)>,
}

impl Operator {
    /// Of a database that holds the fixture.
    pub(crate) async fn with_fixture() -> Self {
        Self::of(Database::with_fixture().await)
    }

    pub(crate) fn of(database: Database) -> Self {
        Self { settings: database.settings(), database }
    }

    /// Imports a folder; an error names its files without the path.
    pub(crate) async fn import(&self, folder: &Path) -> Result<(), String> {
        self.import_replacing(folder, Replace::Nothing).await.map(drop)
    }

    pub(crate) async fn import_replacing(&self, folder: &Path, replace: Replace) -> Result<Imported, String> {
        let upkeep = OpenPostgres.upkeep().unwrap();
        let opened = Folder::open(folder).unwrap().by(self.settings.rules.clone());
        let imported = upkeep.import(&self.settings, &opened, replace).await;
        imported.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
    }

    pub(crate) async fn import_files(&self, files: &[(FolderFile, String)]) -> Result<(), String> {
        self.import(folder_of(files).path()).await
    }

    pub(crate) async fn export(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let upkeep = OpenPostgres.upkeep().unwrap();
        upkeep.export(&self.settings, FolderWriter::create(folder.path()).unwrap()).await.unwrap();
        folder
    }

    pub(crate) async fn rows<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut connection = PgConnection::connect(&self.database.url()).await.unwrap();
        sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.rows::<(i64,)>(sql).await[0].0
    }

    pub(crate) async fn revisions(&self) -> Vec<(String, i64)> {
        self.rows("SELECT resource, revision FROM current_revisions ORDER BY resource").await
    }

    pub(crate) async fn everything(&self) -> Everything {
        Everything { files: contents(self.export().await.path()), revisions: self.revisions().await }
    }

    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        OpenPostgres.open(&self.settings).await.unwrap().store
    }
}
