//! The store in one file: the store in memory, each change of which is in a `SQLite` file before anybody sees it.
//!
//! At startup the whole file is read into a [`MemoryStore`], which does all reads. So there are no queries in SQL, and a read
//! costs what it costs in memory. `Journal` makes the changes. A server has the file for itself; commands such as `siaga
//! import` may change it meanwhile, which the server notices within a second.

mod backup;
mod contents;
mod copied_cards;
mod database;
mod error;
mod file_system;
mod floods;
mod gauges;
mod images;
mod import;
mod intake;
mod journal;
mod keys;
mod moderation;
mod open;
mod schema;
mod server_lock;
mod settings;
mod status;
mod tables;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

pub(crate) use self::copied_cards::copied_cards;
use self::journal::Journal;
pub use self::open::OpenFile;
pub use self::schema::FileSchemaError;
pub use self::settings::Settings;
use super::memory::MemoryStore;
use super::{
    Check, Overview, PlaceStore, Resource, Revision, ServiceState, ServiceStore, Store, StoreError, Versioned,
};
use crate::model::Places;

/// A [`Store`] in one file.
#[derive(Debug)]
pub struct FileStore {
    journal: Journal,
    path: PathBuf,
}

impl FileStore {
    /// Returns the store in memory that reads use.
    fn current(&self) -> Arc<MemoryStore> {
        self.journal.current()
    }
}

impl fmt::Display for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file {}", self.path.display())
    }
}

#[async_trait]
impl PlaceStore for FileStore {
    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        self.current().places().await
    }
}

impl ServiceStore for FileStore {
    fn service_state(&self) -> Option<&ServiceState> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for FileStore {
    async fn revision(&self, resource: Resource) -> Result<Revision, StoreError> {
        self.current().revision(resource).await
    }

    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        self.current().epoch().await
    }

    /// Reads need nothing but the memory, so a file that cannot be written leaves the service ready, but degraded.
    async fn readiness(&self) -> Vec<Check> {
        let since = Instant::now();
        let folder = self.path.parent().unwrap_or(&self.path);
        let failure = self.journal.obstacle().await.or_else(|| file_system::obstacle(folder));
        let store = Check { name: "store", required: true, failure: None, took: Duration::ZERO };
        vec![store, Check { name: "file", required: false, failure, took: since.elapsed() }]
    }

    async fn overview(&self) -> Result<Option<Overview>, StoreError> {
        self.current().overview().await
    }

    async fn close(&self) {
        self.journal.close().await;
    }
}
