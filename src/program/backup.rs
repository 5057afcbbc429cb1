//! Copies of a store and its photos, for the day on which the machine breaks.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::Builder;
use crate::stores::file::Settings;

/// Writes a backup of the store and its photos.
pub(super) async fn backup(builder: &Builder, to: &Path) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let copies = Settings::images_of(to);
    for path in [to, &copies] {
        if path.try_exists()? {
            return Err(format!("{} is there already; name a new file", path.display()).into());
        }
    }
    let photos = photos(builder)?;
    let copy_photos = || photos.as_deref().map_or(Ok(()), |photos| copy_missing(photos, &copies));
    let copying = async {
        // Before, because a server may finish an upload meanwhile and remove it; after, for the photos made meanwhile.
        copy_photos()?;
        upkeep.backup(&settings, to).await?;
        copy_photos()
    };
    let copied = copying.await;
    if copied.is_err() {
        // The error is more use than that of the removal.
        let _ = fs::remove_dir_all(&copies);
    }
    copied
}

/// Replaces the store by a backup, and adds the photos of the backup that are missing.
pub(super) async fn restore(builder: &Builder, from: &Path) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let replaced = upkeep.restore(&settings, from).await?;
    if let Some(replaced) = replaced {
        writeln!(io::stdout(), "What was replaced is in {}.", replaced.display())?;
    }
    let copies = Settings::images_of(from);
    match photos(builder)? {
        Some(photos) if copies.is_dir() => copy_missing(&copies, &photos),
        _ => Ok(()),
    }
}

/// Returns the folder with the photos; `None` if they are elsewhere, which has backups of its own.
fn photos(builder: &Builder) -> Result<Option<PathBuf>, Failure> {
    let storage = builder.checked_but_for_templates()?.photo_storage()?;
    Ok(storage.to_file_path().ok().filter(|_| storage.scheme() == "file"))
}

/// Copies the files that are missing in another folder, with the folders they are in. A photo never changes. A file that is
/// gone meanwhile is left out.
fn copy_missing(from: &Path, to: &Path) -> Result<(), Failure> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| format!("{}: {error}", from.display()))?,
    };
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for entry in entries {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_missing(&source, &target)?;
        } else if !target.try_exists()? {
            copy(&source, &target).map_err(|error| format!("{}: {error}", target.display()))?;
        }
    }
    Ok(())
}

/// Copies a file, which gets its name when all of it is on the disk.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    match fs::copy(from, &part) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        copied => copied?,
    };
    File::open(&part)?.sync_all()?;
    fs::rename(&part, to)
}
