//! A persistent store from the operator's view.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use siaga::folder::{Folder, FolderFile, FolderWriter};
use siaga::stores::file::OpenFile;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{ImportSummary, OpenStore, Replace, Resource, Revision, Store, StoreSettings};
use sqlx::postgres::PgRow;
use sqlx::{Connection, FromRow, PgConnection};
use tempfile::TempDir;

use crate::database::Database;
use crate::folders::{contents, folder_of};
use crate::store_file::StoreFile;

/// A persistent store from the operator's view.
pub(crate) struct Operator {
    pub(crate) settings: StoreSettings,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Place {
    Database(Database),
    File(StoreFile),
}

/// All files of an export, and the revision of each resource.
#[derive(Debug, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) files: BTreeMap<&'static str, String>,
    pub(crate) revisions: Vec<Revision>,
}

impl Operator {
    pub(crate) async fn with_fixture() -> Self {
        Self::on(Database::with_fixture().await)
    }

    /// On a database with the fixture, and a server's store on it.
    pub(crate) async fn live() -> (Self, Arc<dyn Store>) {
        let operator = Self::with_fixture().await;
        let store = operator.store().await;
        (operator, store)
    }

    pub(crate) async fn each_with_fixture() -> [Self; 2] {
        [Self::with_fixture().await, Self::in_file(StoreFile::with_fixture().await)]
    }

    pub(crate) async fn each_empty() -> [Self; 2] {
        [Self::on(Database::empty().await), Self::in_file(StoreFile::none())]
    }

    pub(crate) fn on(database: Database) -> Self {
        Self { settings: database.settings(), place: Place::Database(database) }
    }

    fn in_file(file: StoreFile) -> Self {
        Self { settings: file.settings(), place: Place::File(file) }
    }

    pub(crate) fn database(&self) -> &Database {
        match &self.place {
            Place::Database(database) => database,
            Place::File(file) => panic!("{file:?} is no database"),
        }
    }

    fn opener(&self) -> &dyn OpenStore {
        match self.place {
            Place::Database(_) => &OpenPostgres,
            Place::File(_) => &OpenFile,
        }
    }

    /// Imports a folder; an error names its files without the path.
    pub(crate) async fn import(&self, folder: &Path) -> Result<ImportSummary, String> {
        self.import_replacing(folder, Replace::Nothing).await
    }

    pub(crate) async fn import_replacing(
        &self,
        folder: &Path,
        replace: Replace,
    ) -> Result<ImportSummary, String> {
        let opened = Folder::open(folder).unwrap().with_rules(self.settings.rules.clone());
        let imported = self.opener().upkeep().unwrap().import(&self.settings, &opened, replace).await;
        imported.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
    }

    pub(crate) async fn import_files(&self, files: &[(FolderFile, String)]) -> Result<ImportSummary, String> {
        self.import(folder_of(files).path()).await
    }

    /// Imports valid files.
    pub(crate) async fn add(&self, files: &[(FolderFile, String)]) {
        self.import_files(files).await.unwrap();
    }

    pub(crate) async fn export(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let writer = FolderWriter::create(folder.path()).unwrap();
        self.opener().upkeep().unwrap().export(&self.settings, writer).await.unwrap();
        folder
    }

    pub(crate) async fn rows<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut connection = PgConnection::connect(&self.database().url()).await.unwrap();
        sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
    }

    pub(crate) async fn numbers(&self, sql: &'static str) -> Vec<i64> {
        self.rows::<(i64,)>(sql).await.into_iter().map(|(number,)| number).collect()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.numbers(sql).await[0]
    }

    pub(crate) async fn snapshot(&self) -> Snapshot {
        let (files, store) = (contents(self.export().await.path()), self.store().await);
        let mut revisions = Vec::new();
        for resource in [Resource::Floods, Resource::Reports, Resource::Gauges, Resource::Places] {
            revisions.push(store.revision(resource).await.unwrap());
        }
        store.close().await;
        Snapshot { files, revisions }
    }

    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        self.opener().open(&self.settings).await.unwrap().store
    }
}
