use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::mem::ManuallyDrop;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::file_system::create_private;
use super::settings::with_suffix;
use crate::stores::OpenError;

const IN_USE: &str = "a server is using it: only one can, and must be stopped first";

/// The locks that ensure that only one server uses a file. Released when the value is dropped, or when the process ends.
///
/// One lock is on a separate file, and protects the name of the database file: a restore replaces the file under this lock. The
/// other lock is on the file itself, which may have several names (hard links). It is used only on Linux, where it does not
/// interact with `SQLite`'s locks. A process loses `SQLite`'s locks when it closes any handle of the file, so the handle with the
/// lock stays open until the process ends, unless [`release`](Self::release) closes it.
#[derive(Debug)]
pub(super) struct ServerLock {
    #[allow(dead_code, reason = "dropping it releases the lock")]
    name: File,
    file: Option<ManuallyDrop<File>>,
}

impl ServerLock {
    pub(super) fn path_of(path: &Path) -> PathBuf {
        with_suffix(path, ".lock")
    }

    /// Locks the file at `path`, which need not exist.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let lock = Self::path_of(path);
        let name = private(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
        take(&name)?;
        let file = match File::open(path) {
            _ if !cfg!(target_os = "linux") => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            file => Some(ManuallyDrop::new(file?)),
        };
        let held = Self { name, file };
        held.file.as_deref().map_or(Ok(()), take)?;
        Ok(held)
    }

    /// Releases the locks. All connections of this process to the file must already be closed.
    pub(super) fn release(mut self) {
        drop(self.file.take().map(ManuallyDrop::into_inner));
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // If this fails, the end of the process releases the lock.
            let _ = file.unlock();
        }
    }
}

/// Opens a lock file, and creates it if missing. Only its owner can open it.
fn private(path: &Path) -> io::Result<File> {
    create_private(path)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

fn take(file: &File) -> Result<(), OpenError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => IN_USE.into(),
        TryLockError::Error(error) => error.into(),
    })
}
