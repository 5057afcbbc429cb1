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

/// To how many bytes `SQLite` cuts its log, once all of it is in the file: as many as it usually lets it grow to.
const LOG_BYTES: &str = "4194304";

/// The file with the data, by its absolute path.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    /// How long to wait while another process writes.
    pub(super) timeout: Duration,
}

impl Database {
    /// Returns the configured file. Does not open it.
    pub(super) fn from_settings(settings: &StoreSettings) -> Result<Self, OpenError> {
        Ok(Self::at(Settings::path(settings)?, settings.timeout))
    }

    pub(super) fn at(path: PathBuf, timeout: Duration) -> Self {
        Self { path, timeout }
    }

    /// Returns the folder that the file is in.
    pub(super) fn folder(&self) -> &Path {
        file_system::folder_of(&self.path)
    }

    fn log(&self) -> PathBuf {
        with_suffix(&self.path, "-wal")
    }

    /// Identifies the log that the file has now.
    pub(super) fn log_identity(&self) -> Option<Identity> {
        Identity::from_path(&self.log()).ok()
    }

    /// Returns an error with the path of the file.
    pub(super) fn failed(&self, error: &OpenError) -> OpenError {
        format!("the file {}: {error}", self.path.display()).into()
    }

    /// Creates the file if there is none, without tables. Must come before [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// If the file is on another machine, or is missing although there was one.
    pub(super) fn create(&self) -> Result<(), OpenError> {
        file_system::check(self.folder())?;
        self.check_whether_missing()?;
        Ok(file_system::create_private(&self.path)?)
    }

    /// Fails if the file is not there, but what was beside it is: an empty file in its place would hide the loss, and make
    /// `SQLite` remove the log.
    fn check_whether_missing(&self) -> Result<(), OpenError> {
        let length = fs::metadata(&self.path).ok().map(|file| file.len());
        let has_log = fs::metadata(self.log()).is_ok_and(|log| log.len() > 0);
        // A file that was only just created is empty.
        if length.is_some_and(|length| length > 0 || !has_log) {
            return Ok(());
        }
        let (lock, images) = (ServerLock::path_of(&self.path), Settings::images_of(&self.path));
        let has_photos = fs::read_dir(&images).is_ok_and(|mut photos| photos.next().is_some());
        let left = [(self.log(), has_log), (lock.clone(), lock.exists()), (images, has_photos)];
        let left: Vec<_> = left.iter().filter(|(_, is_there)| *is_there).map(|(path, _)| path).collect();
        if left.is_empty() {
            return Ok(());
        }
        let names = left.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        let state = if length.is_some() { "empty" } else { "missing" };
        Err(format!(
            "it is {state}, but was not: {names} belong to it. Put it back, or restore a backup; to begin without data, move \
             these away"
        )
        .into())
    }

    /// Opens the file, which must be there.
    ///
    /// Every change is on the disk when its transaction has ended (WAL, with `synchronous` at `FULL`).
    pub(super) async fn connect(&self) -> Result<SqliteConnection, FileError> {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(false)
            .busy_timeout(self.timeout)
            // What is erased is overwritten.
            .pragma("secure_delete", "ON")
            .pragma("journal_size_limit", LOG_BYTES)
            .disable_statement_logging();
        Ok(options.connect().await?)
    }

    /// Opens the file for a command that only reads.
    pub(super) async fn connect_to_read(&self) -> Result<SqliteConnection, OpenError> {
        self.check_whether_missing()?;
        if !self.path.exists() {
            return Err("there is no such file; a server or `siaga import` creates it".into());
        }
        Ok(self.connect().await?)
    }

    /// Opens the file for a command that writes while a server may be running, and brings its schema up to date. Creates
    /// the file if there is none.
    pub(super) async fn connect_to_write(&self) -> Result<SqliteConnection, OpenError> {
        self.create()?;
        let mut connection = self.connect().await?;
        if schema::check(&mut connection).await.is_err() {
            // A server of another version must not work on a schema that it does not know.
            let _lock = ServerLock::take(&self.path)?;
            schema::migrate(&mut connection).await?;
        }
        Ok(connection)
    }

    /// Moves the log into the file, and cuts it to nothing. Does not wait for other processes; returns whether none reads an
    /// older state, which the log must keep then.
    pub(super) async fn empty_log(&self, connection: &mut SqliteConnection) -> Result<bool, FileError> {
        query("PRAGMA busy_timeout = 0").execute(&mut *connection).await?;
        let (is_busy, _, _): (bool, i64, i64) =
            query_as::<Sqlite, _>("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await?;
        let patience = format!("PRAGMA busy_timeout = {}", self.timeout.as_millis());
        query(AssertSqlSafe(patience)).execute(connection).await?;
        Ok(!is_busy)
    }
}
