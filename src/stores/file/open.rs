use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::Connection;

use super::database::Database;
use super::older_readings::OlderReadings;
use super::server_lock::ServerLock;
use super::settings::Settings;
use super::{backup, contents, file_system, import, schema, status, writer};
use crate::data::folder::{Folder, FolderWriter};
use crate::stores::{
    ImportSummary, MigrationSummary, OpenError, OpenStore, OpenedStore, Replace, Status, StoreSettings,
    Upkeep,
};

/// Opens a store on the configured file.
#[derive(Clone, Copy, Debug)]
pub struct OpenFile;

#[async_trait]
impl OpenStore for OpenFile {
    fn name(&self) -> &'static str {
        "file"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn check(&self, settings: &StoreSettings) -> Result<(), OpenError> {
        let path = Settings::path(settings)?;
        match path.parent().filter(|folder| !folder.is_dir()) {
            None => Ok(()),
            Some(folder) => Err(format!(
                "siaga.file.path: the folder of {} does not exist: write mkdir -p {}",
                path.display(),
                folder.display()
            )
            .into()),
        }
    }

    fn upkeep(&self) -> Option<&dyn Upkeep> {
        Some(self)
    }

    /// Opens the file for a server, and fails if another server uses it. Creates the file if missing, and migrates its schema.
    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let database = Database::from_settings(settings)?;
        let open = async {
            database.create()?;
            // The lock is taken first, because a restore replaces the file under this lock.
            let lock = ServerLock::take(&database.path)?;
            let mut connection = database.connect().await?;
            schema::migrate(&mut connection).await?;
            open_store(database.clone(), connection, Some(lock), settings).await
        };
        open.await.map_err(|error| database.with_path(&error))
    }

    /// Opens the file for a command, while a server may be running.
    async fn open_for_command(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let database = Database::from_settings(settings)?;
        let open = async {
            let connection = database.connect_to_write().await?;
            open_store(database.clone(), connection, None, settings).await
        };
        open.await.map_err(|error| database.with_path(&error))
    }
}

async fn open_store(
    database: Database,
    connection: sqlx::SqliteConnection,
    lock: Option<ServerLock>,
    settings: &StoreSettings,
) -> Result<OpenedStore, OpenError> {
    let clock = Arc::clone(&settings.clock);
    let (local, failure) =
        writer::open(database.clone(), connection, lock, Arc::clone(&clock), settings.timeout).await?;
    let mut store = OpenedStore::new(Arc::new(OlderReadings::new(local, database, clock)));
    store.failure = Some(failure);
    Ok(store)
}

#[async_trait]
impl Upkeep for OpenFile {
    async fn migrate(&self, settings: &StoreSettings) -> Result<MigrationSummary, OpenError> {
        let database = Database::from_settings(settings)?;
        let migrate = async {
            database.create()?;
            let lock = ServerLock::take(&database.path)?;
            let mut connection = database.connect().await?;
            let applied = schema::migrate(&mut connection).await?;
            connection.close().await?;
            lock.release();
            let to = schema::needed();
            Ok(MigrationSummary { from: to - applied.len(), to, applied })
        };
        migrate.await.map_err(|error| database.with_path(&error))
    }

    async fn import(
        &self,
        settings: &StoreSettings,
        folder: &Folder,
        replace: Replace,
    ) -> Result<ImportSummary, OpenError> {
        let database = Database::from_settings(settings)?;
        let mut connection = database.connect_to_write().await.map_err(|error| database.with_path(&error))?;
        let imported = import::import(&mut connection, folder, settings.clock.now(), replace).await?;
        connection.close().await?;
        Ok(imported)
    }

    async fn export(&self, settings: &StoreSettings, folder: FolderWriter) -> Result<(), OpenError> {
        let database = Database::from_settings(settings)?;
        let reading = async {
            let mut connection = database.connect_to_read().await?;
            schema::check(&mut connection).await?;
            let mut snapshot = connection.begin().await?;
            let dataset = contents::dataset(&mut snapshot).await?;
            snapshot.rollback().await?;
            connection.close().await?;
            Ok(dataset)
        };
        let dataset = reading.await.map_err(|error: OpenError| database.with_path(&error))?;
        Ok(dataset.save(&folder)?)
    }

    async fn status(&self, settings: &StoreSettings) -> Result<Status, OpenError> {
        let database = Database::from_settings(settings)?;
        let reading = async {
            let mut connection = database.connect_to_read().await?;
            let mut status = status::read(&mut connection, settings.clock.now()).await?;
            connection.close().await?;
            status.free = database.path.parent().and_then(file_system::free);
            status.last_backup = Some(backup::last_time(&database.path));
            Ok(status)
        };
        reading.await.map_err(|error: OpenError| database.with_path(&error))
    }

    async fn backup(&self, settings: &StoreSettings, to: &Path) -> Result<(), OpenError> {
        let database = Database::from_settings(settings)?;
        backup::backup(&database, to).await.map_err(|error| database.with_path(&error))?;
        backup::record_time(&database.path, settings.clock.now());
        Ok(())
    }

    async fn restore(&self, settings: &StoreSettings, from: &Path) -> Result<Option<PathBuf>, OpenError> {
        backup::restore(&Database::from_settings(settings)?, from, &settings.clock).await
    }
}
