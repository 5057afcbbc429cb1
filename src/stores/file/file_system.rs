//! What the file system under the file can do.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::Path;

use crate::stores::OpenError;

/// How much space must be left. `SQLite` needs some for a change of any size.
const LEAST: u64 = 1024 * 1024;

/// The names of file systems on which other machines can change files, by their numbers in `statfs(2)`. Locks and
/// memory that is shared through a file do not work there as `SQLite` needs them.
#[cfg(target_os = "linux")]
const SHARED: [(u64, &str); 4] =
    [(0x6969, "NFS"), (0x517b, "SMB"), (0xff53_4d42, "SMB"), (0xfe53_4d42, "SMB")];

/// Identifies a file, by whatever name it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// Returns the identity of the file that has a path now.
    pub(super) fn from_path(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), number: found.ino() })
    }
}

/// Creates a file that only its owner can read, if there is none: it holds hashes of keys and the names of residents. The
/// files that `SQLite` puts beside it get the same permissions. If root creates it, it belongs to the owner of the folder,
/// who runs the server.
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

/// Waits until the names of the files in a folder are on the disk.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the folder of a file with an absolute path.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Makes sure that a folder is on a file system of this machine.
///
/// # Errors
///
/// If it is on one that is reached over a network, or there is no such folder.
pub(super) fn check(folder: &Path) -> Result<(), OpenError> {
    let system = rustix::fs::statfs(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    #[cfg(target_os = "linux")]
    if let Some(name) = shared(system.f_type as u64) {
        return Err(format!(
            "{} is on {name}, a file system over a network, on which SQLite loses data; use a disk of this machine",
            folder.display()
        )
        .into());
    }
    let _ = system;
    Ok(())
}

/// Returns the name of a file system over a network by its number.
#[cfg(target_os = "linux")]
fn shared(number: u64) -> Option<&'static str> {
    // The number is signed on some machines.
    SHARED.iter().find(|(known, _)| *known == number & 0xffff_ffff).map(|(_, name)| *name)
}

/// Returns how many bytes a user may still write on a folder's file system.
pub(super) fn free(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns why nothing can be written to a folder's file system, as far as the system says it.
pub(super) fn obstacle(folder: &Path) -> Option<&'static str> {
    let system = rustix::fs::statvfs(folder).ok()?;
    if system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return Some("the file system is read-only");
    }
    (system.f_bavail.saturating_mul(system.f_frsize) < LEAST).then_some("the disk is full")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_over_a_network_are_known_and_those_of_a_machine_pass() {
        const EXT4: u64 = 0xef53;

        assert_eq!([0x6969, 0xff53_4d42, 0xfe53_4d42].map(shared), [Some("NFS"), Some("SMB"), Some("SMB")]);
        assert_eq!(shared(0xffff_ffff_ff53_4d42), Some("SMB"), "sign-extended");
        assert_eq!(shared(EXT4), None);
        let folder = tempfile::tempdir().unwrap();
        check(folder.path()).unwrap();
        assert_eq!(obstacle(folder.path()), None);
    }
}
