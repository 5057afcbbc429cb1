use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use super::error::FileError;
use super::server_lock::ServerLock;
use super::settings::Settings;
use super::{file_system, schema};
use crate::stores::{OpenError, StoreSettings};

/// The file with the data, by its absolute path.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    /// How long to wait while another process writes.
    pub(super) timeout: Duration,
}

impl Database {
    /// Returns the configured file. Does not open it.
    pub(super) fn of(settings: &StoreSettings) -> Result<Self, OpenError> {
        Ok(Self::at(Settings::path(settings)?, settings.timeout))
    }

    pub(super) fn at(path: PathBuf, timeout: Duration) -> Self {
        Self { path, timeout }
    }

    /// Returns the folder that the file is in.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Returns an error with the path of the file.
    pub(super) fn failed(&self, error: &OpenError) -> OpenError {
        format!("the file {}: {error}", self.path.display()).into()
    }

    /// Opens the file, and creates it if there is none.
    ///
    /// Every change is on the disk when its transaction has ended (WAL, with `synchronous` at `FULL`).
    pub(super) async fn create(&self) -> Result<SqliteConnection, OpenError> {
        file_system::check(self.folder())?;
        create_private(&self.path)?;
        Ok(self.connect().await?)
    }

    /// Opens the file, which must be there.
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
            .disable_statement_logging();
        Ok(options.connect().await?)
    }

    /// Opens the file for a command that only reads.
    pub(super) async fn connect_to_read(&self) -> Result<SqliteConnection, OpenError> {
        if !self.path.exists() {
            return Err("there is no such file; a server or `siaga import` creates it".into());
        }
        Ok(self.connect().await?)
    }

    /// Opens the file for a command that writes while a server may be running, and brings its schema up to date. Creates
    /// the file if there is none.
    pub(super) async fn connect_to_write(&self) -> Result<SqliteConnection, OpenError> {
        let mut connection = self.create().await?;
        if schema::check(&mut connection).await.is_err() {
            // A server of another version must not work on a schema that it does not know.
            let _lock = ServerLock::take(&self.path)?;
            schema::migrate(&mut connection).await?;
        }
        Ok(connection)
    }
}

/// Creates a file that only its owner can read, because it holds hashes of keys and the names of residents. The files that
/// `SQLite` puts beside it get the same permissions.
pub(super) fn create_private(path: &Path) -> Result<(), OpenError> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}
