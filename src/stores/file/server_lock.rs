use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::mem::ManuallyDrop;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::file_system::create_private;
use super::settings::with_suffix;
use crate::stores::OpenError;

const TAKEN: &str = "a server is using it: only one can, and must be stopped first";

/// The locks that let only one server use a file. They are held while the value lives, and end with the process, however
/// that ends.
///
/// One is on a file beside it, for its name: a restore puts another file there. The other is on the file itself, which may
/// have other names (hard links). It is of a kind that does not meet `SQLite`'s locks on Linux; other systems have only the
/// first. But a process loses `SQLite`'s locks when it closes any handle of the file. So that handle stays open until the
/// process ends, unless [`release`](Self::release) closes it.
#[derive(Debug)]
pub(super) struct ServerLock {
    #[allow(dead_code, reason = "its end is what counts")]
    name: File,
    file: Option<ManuallyDrop<File>>,
}

impl ServerLock {
    /// Returns the path of the file that is locked for the name of another one.
    pub(super) fn path_of(path: &Path) -> PathBuf {
        with_suffix(path, ".lock")
    }

    /// Takes the locks of the file at `path`, which need not be there.
    ///
    /// # Errors
    ///
    /// If another process has one, or the lock file cannot be written.
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

    /// Ends the locks after all connections of this process to the file are closed.
    pub(super) fn release(mut self) {
        drop(self.file.take().map(ManuallyDrop::into_inner));
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // The lock ends with the process, if not here.
            let _ = file.unlock();
        }
    }
}

/// Opens a lock file that only its owner can lock.
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
        TryLockError::WouldBlock => TAKEN.into(),
        TryLockError::Error(error) => error.into(),
    })
}
