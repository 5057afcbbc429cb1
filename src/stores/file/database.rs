use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Sqlite, SqliteConnection, query, query_as};

use super::error::FileError;
use super::file_system::{self, Identity};
use super::schema;
use super::server_lock::ServerLock;
use super::settings::{Settings, with_suffix};
use crate::stores::{OpenError, StoreSettings};

/// The size to which `SQLite` truncates its log after a checkpoint: about the size that it usually grows to.
const LOG_BYTES: &str = "4194304";

#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    /// How long to wait while another process writes.
    pub(super) timeout: Duration,
}

impl Database {
    pub(super) fn from_settings(settings: &StoreSettings) -> Result<Self, OpenError> {
        Ok(Self::new(Settings::path(settings)?, settings.timeout))
    }

    pub(super) fn new(path: PathBuf, timeout: Duration) -> Self {
        Self { path, timeout }
    }

    pub(super) fn folder(&self) -> &Path {
        file_system::folder_of(&self.path)
    }

    fn log(&self) -> PathBuf {
        with_suffix(&self.path, "-wal")
    }

    pub(super) fn log_identity(&self) -> Option<Identity> {
        Identity::from_path(&self.log()).ok()
    }

    pub(super) fn with_path(&self, error: &OpenError) -> OpenError {
        format!("the file {}: {error}", self.path.display()).into()
    }

    /// Creates the file without tables if there is none. Must run before [`connect`](Self::connect). Fails on network file
    /// systems, and if an earlier file has been lost.
    pub(super) fn create(&self) -> Result<(), OpenError> {
        file_system::check(self.folder())?;
        self.check_whether_missing()?;
        Ok(file_system::create_private(&self.path)?)
    }

    /// Fails if the file is missing although its log, lock or photos exist: a new empty file would hide the loss, and make
    /// `SQLite` remove the log.
    fn check_whether_missing(&self) -> Result<(), OpenError> {
        let length = fs::metadata(&self.path).ok().map(|file| file.len());
        let has_log = fs::metadata(self.log()).is_ok_and(|log| log.len() > 0);
        // An empty file with a log counts as missing, because it may just have been created.
        if length.is_some_and(|length| length > 0 || !has_log) {
            return Ok(());
        }
        let (lock, images) = (ServerLock::path_of(&self.path), Settings::images_of(&self.path));
        let has_photos = fs::read_dir(&images).is_ok_and(|mut photos| photos.next().is_some());
        let related = [(self.log(), has_log), (lock.clone(), lock.exists()), (images, has_photos)];
        let existing: Vec<_> =
            related.iter().filter(|(_, is_there)| *is_there).map(|(path, _)| path).collect();
        if existing.is_empty() {
            return Ok(());
        }
        let names = existing.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        let state = if length.is_some() { "empty" } else { "missing" };
        Err(format!(
            "it is {state}, but was not: {names} belong to it. Put it back, or restore a backup; to begin without data, move \
             these away"
        )
        .into())
    }

    /// Opens the existing file. When a commit returns, its transaction is on the disk (WAL, with `synchronous` at `FULL`).
    pub(super) async fn connect(&self) -> Result<SqliteConnection, FileError> {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(false)
            .busy_timeout(self.timeout)
            // Overwrites deleted data with zeros.
            .pragma("secure_delete", "ON")
            .pragma("journal_size_limit", LOG_BYTES)
            .disable_statement_logging();
        Ok(options.connect().await?)
    }

    pub(super) async fn connect_to_read(&self) -> Result<SqliteConnection, OpenError> {
        self.check_whether_missing()?;
        if !self.path.exists() {
            return Err("there is no such file; a server or `siaga import` creates it".into());
        }
        Ok(self.connect().await?)
    }

    /// Opens the file for a command, while a server may be running. Creates the file if missing, and migrates its schema.
    pub(super) async fn connect_to_write(&self) -> Result<SqliteConnection, OpenError> {
        self.create()?;
        let mut connection = self.connect().await?;
        if schema::check(&mut connection).await.is_err() {
            // The lock excludes a running server, which may not know the new schema.
            let _lock = ServerLock::take(&self.path)?;
            schema::migrate(&mut connection).await?;
        }
        Ok(connection)
    }

    /// Merges the log into the file, and truncates the log. Does not wait for other processes: returns `false` if one of them
    /// still reads an older state, for which `SQLite` needs the log.
    pub(super) async fn truncate_log(&self, connection: &mut SqliteConnection) -> Result<bool, FileError> {
        query("PRAGMA busy_timeout = 0").execute(&mut *connection).await?;
        let (is_busy, _, _): (bool, i64, i64) =
            query_as::<Sqlite, _>("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await?;
        let timeout = format!("PRAGMA busy_timeout = {}", self.timeout.as_millis());
        query(AssertSqlSafe(timeout)).execute(connection).await?;
        Ok(!is_busy)
    }
}
