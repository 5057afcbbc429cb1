use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::mem::ManuallyDrop;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::file_system::create_private;
use super::settings::with_suffix;
use crate::stores::OpenError;

const IN_USE: &str = "a server is using it: only one can, and must be stopped first";

/// The locks that ensure that only one server uses a database file. They end with the process at the latest.
///
/// One lock is on a separate lock file, and protects the name of the database file: a restore replaces the database file under this
/// lock. The other lock is on the database file itself, which may have several names (hard links).
///
/// Dropping the value unlocks both files. It closes only the lock file: closing any handle of the database file would lose
/// `SQLite`'s locks, so that handle stays open until the process ends or [`release`](Self::release) closes it. The lock on the
/// database file is used only on Linux, where it does not interact with `SQLite`'s locks.
#[derive(Debug)]
pub(super) struct ServerLock {
    #[allow(dead_code, reason = "dropping it releases the lock")]
    lock_file: File,
    database_file: Option<ManuallyDrop<File>>,
}

impl ServerLock {
    pub(super) fn path_of(path: &Path) -> PathBuf {
        with_suffix(path, ".lock")
    }

    /// Locks the file at `path`, which need not exist.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let lock_path = Self::path_of(path);
        let lock_file =
            open_private(&lock_path).map_err(|error| format!("{}: {error}", lock_path.display()))?;
        try_lock(&lock_file)?;
        let database_file = match File::open(path) {
            _ if !cfg!(target_os = "linux") => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            file => Some(ManuallyDrop::new(file?)),
        };
        let lock = Self { lock_file, database_file };
        lock.database_file.as_deref().map_or(Ok(()), try_lock)?;
        Ok(lock)
    }

    /// Releases the locks. All connections of this process to the file must already be closed.
    pub(super) fn release(mut self) {
        drop(self.database_file.take().map(ManuallyDrop::into_inner));
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        if let Some(file) = &self.database_file {
            // If this fails, the end of the process releases the lock.
            let _ = file.unlock();
        }
    }
}

/// Opens a lock file, and creates it if missing. Only its owner can open it.
fn open_private(path: &Path) -> io::Result<File> {
    create_private(path)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

fn try_lock(file: &File) -> Result<(), OpenError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => IN_USE.into(),
        TryLockError::Error(error) => error.into(),
    })
}
