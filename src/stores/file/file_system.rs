//! Checks the file system of the store's file (type, free space), and creates files that only the owner can read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::Path;

use crate::stores::OpenError;

/// The minimum free space: `SQLite` needs some for any change.
const MIN_FREE: u64 = 1024 * 1024;

/// Network file systems, by their numbers in `statfs(2)`. On them, locks and shared memory do not work as `SQLite` needs.
#[cfg(target_os = "linux")]
const NETWORK: [(u64, &str); 4] =
    [(0x6969, "NFS"), (0x517b, "SMB"), (0xff53_4d42, "SMB"), (0xfe53_4d42, "SMB")];

/// Identifies a file independently of its name (device and inode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn from_path(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

/// Creates a missing file that only its owner can read, because it contains hashes of keys and names of residents. `SQLite` gives
/// its other files the same permissions. A file that root creates gets the owner of the folder, who runs the server.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        created => created?.sync_all()?,
    }
    let folder = folder_of(path);
    let (owner, created) = (fs::metadata(folder)?, fs::metadata(path)?);
    if created.uid() == 0 && owner.uid() != 0 {
        chown(path, Some(owner.uid()), Some(owner.gid()))?;
    }
    sync(folder)
}

/// Flushes the names of the files in a folder to the disk.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Fails if a folder does not exist or is on a network file system.
pub(super) fn check(folder: &Path) -> Result<(), OpenError> {
    let system = rustix::fs::statfs(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    #[cfg(target_os = "linux")]
    if let Some(name) = network_name(system.f_type as u64) {
        return Err(format!(
            "{} is on {name}, a file system over a network, on which SQLite loses data; use a disk of this machine",
            folder.display()
        )
        .into());
    }
    let _ = system;
    Ok(())
}

#[cfg(target_os = "linux")]
fn network_name(number: u64) -> Option<&'static str> {
    // On some machines the number is signed, so compare only its lower 32 bits.
    NETWORK.iter().find(|(known, _)| *known == number & 0xffff_ffff).map(|(_, name)| *name)
}

/// Returns the number of bytes that a user may still write on a folder's file system.
pub(super) fn free(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns why a folder's file system cannot be written: it is read-only or full. `None` otherwise, or if its status is unknown.
pub(super) fn obstacle(folder: &Path) -> Option<&'static str> {
    let system = rustix::fs::statvfs(folder).ok()?;
    if system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return Some("the file system is read-only");
    }
    (system.f_bavail.saturating_mul(system.f_frsize) < MIN_FREE).then_some("the disk is full")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused() {
        const EXT4: u64 = 0xef53;

        assert_eq!(
            [0x6969, 0xff53_4d42, 0xfe53_4d42].map(network_name),
            [Some("NFS"), Some("SMB"), Some("SMB")]
        );
        assert_eq!(network_name(0xffff_ffff_ff53_4d42), Some("SMB"), "sign-extended");
        assert_eq!(network_name(EXT4), None);
        let folder = tempfile::tempdir().unwrap();
        check(folder.path()).unwrap();
        assert_eq!(obstacle(folder.path()), None);
    }
}
