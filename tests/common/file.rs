//! Stores in a file for tests: each test has its own file, copied from one that holds the fixture.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use figment::Figment;
use figment::providers::Serialized;
use rocket::tokio::sync::OnceCell;
use siaga::folder::{Folder, FolderWriter};
use siaga::model::ManualClock;
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, Replace, StoreSettings};
use tempfile::TempDir;

use crate::fixture;

/// A file of one test; removed on drop.
#[derive(Debug)]
pub(crate) struct StoreFile {
    folder: TempDir,
}

impl StoreFile {
    /// A path without a file.
    pub(crate) fn none() -> Self {
        Self { folder: memory_folder() }
    }

    pub(crate) async fn with_fixture() -> Self {
        static TEMPLATE: OnceCell<StoreFile> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(|| async {
            let template = Self::none();
            template.fill_with_fixture().await;
            template
        });
        let file = Self::none();
        fs::copy(template.await.path(), file.path()).unwrap();
        file
    }

    async fn fill_with_fixture(&self) {
        let folder = tempfile::tempdir().unwrap();
        fixture::dataset().save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let upkeep = OpenFile.upkeep().unwrap();
        upkeep.import(&self.settings(), &folder, Replace::Nothing).await.unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("siaga.db")
    }

    pub(crate) fn figment(&self) -> Figment {
        Figment::from(Serialized::default("siaga.file.path", self.path()))
    }

    pub(crate) fn settings(&self) -> StoreSettings {
        StoreSettings::new(self.figment(), Arc::new(ManualClock::new(fixture::now())))
    }
}

/// A folder on a memory disk if there is one, because each write waits for the disk.
pub(crate) fn memory_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
