use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::settings::with_suffix;
use crate::stores::OpenError;

/// The lock that lets only one server use a file. It is held while the value lives, and ends with the process, however
/// that ends.
///
/// It is on a file of its own: `SQLite`'s locks are on the file itself, and a process loses them when it closes any handle.
#[derive(Debug)]
pub(super) struct ServerLock(#[allow(dead_code, reason = "its end is what counts")] File);

impl ServerLock {
    /// Takes the lock of the file at `path`.
    ///
    /// # Errors
    ///
    /// If another process has it, or the lock file cannot be written.
    pub(super) fn take(path: &Path) -> Result<Self, OpenError> {
        let lock = with_suffix(path, ".lock");
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", lock.display());
        // A lock needs no right to write, so it does not matter which user has created the file.
        let file = File::open(&lock)
            .or_else(|_| OpenOptions::new().create(true).truncate(false).write(true).open(&lock))
            .map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                Err("a server is using it: only one can, and must be stopped first".into())
            }
            Err(TryLockError::Error(error)) => Err(failed(&error).into()),
        }
    }
}
