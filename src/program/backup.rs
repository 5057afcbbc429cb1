//! Backups of a store and its photos.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::Builder;
use crate::model::CardId;
use crate::photos::{HIDDEN, card_of_file, make_private};
use crate::stores::file::{Settings, cards_in_backup};

/// Writes a copy of the store, and a folder next to it with copies of the photos. Fails if one of the two paths exists.
pub(super) async fn backup(builder: &Builder, to: &Path) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let copies = Settings::images_of(to);
    for path in [to, &copies] {
        if path.try_exists()? {
            return Err(format!("{} is there already; name a new file", path.display()).into());
        }
    }
    let photos = photos(builder)?;
    let copy_current_photos =
        || photos.as_deref().map_or(Ok(()), |photos| copy_photos(photos, &copies, Private::All));
    let copy_all = async {
        // Copy photos before the store, because a server may remove a processed upload, and again afterwards, for new photos.
        copy_current_photos()?;
        upkeep.backup(&settings, to).await?;
        let complete = async {
            copy_current_photos()?;
            if copies.is_dir() {
                remove_erased(&copies, &cards_in_backup(to).await?)?;
            }
            Ok(())
        };
        let completed: Result<(), Failure> = complete.await;
        if completed.is_err() {
            let _ = fs::remove_file(to);
        }
        completed
    };
    let copied = copy_all.await;
    if copied.is_err() {
        let _ = fs::remove_dir_all(&copies);
    }
    copied?;
    let size = fs::metadata(to)?.len().div_ceil(1024);
    let photos =
        if copies.is_dir() { format!("; the photos are in {}", copies.display()) } else { String::new() };
    Ok(writeln!(io::stdout(), "The backup is in {}, {size} KiB{photos}.", to.display())?)
}

/// Replaces the store with a backup, and adds the photos of the backup that are missing.
pub(super) async fn restore(builder: &Builder, from: &Path) -> Result<(), Failure> {
    let (upkeep, settings) = builder.upkeep()?;
    let replaced = upkeep.restore(&settings, from).await?;
    if let Some(replaced) = replaced {
        writeln!(io::stdout(), "What was replaced is in {}.", replaced.display())?;
    }
    let copies = Settings::images_of(from);
    if let Some(photos) = photos(builder)?.filter(|_| copies.is_dir()) {
        copy_photos(&copies, &photos, Private::Hidden)?;
    }
    let newest = upkeep.status(&settings).await?.newest;
    let newest = newest.iter().filter_map(|(name, at)| Some(format!("{name} {}", (*at)?)));
    let newest = newest.collect::<Vec<_>>().join(", ");
    let newest = if newest.is_empty() { "it is empty".to_owned() } else { newest };
    Ok(writeln!(io::stdout(), "The store holds what {} held: {newest}.", from.display())?)
}

/// Returns the folder of the photos; `None` if they are in an object storage, which has its own backups.
fn photos(builder: &Builder) -> Result<Option<PathBuf>, Failure> {
    let storage = builder.checked_without_templates()?.photo_storage()?;
    Ok(storage.to_file_path().ok().filter(|_| storage.scheme() == "file"))
}

/// Selects the copied folders that only their owner can read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Private {
    All,
    Hidden,
}

/// Copies files and folders that `to` lacks; photos never change. Skips files that disappear. Syncs all copies to the disk.
fn copy_photos(from: &Path, to: &Path, private: Private) -> Result<(), Failure> {
    copy_missing(from, to, private)?;
    let above = to.parent().filter(|above| !above.as_os_str().is_empty());
    Ok(sync(above.unwrap_or(Path::new(".")))?)
}

/// Copies the files that the target does not have, with subfolders. Existing files stay as they are.
fn copy_missing(from: &Path, to: &Path, private: Private) -> Result<(), Failure> {
    let failed = |error: io::Error| format!("{}: {error}", to.display());
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| format!("{}: {error}", from.display()))?,
    };
    let is_private = private == Private::All || to.file_name().is_some_and(|name| name == HIDDEN);
    let created = if is_private { make_private(to) } else { fs::create_dir_all(to) };
    created.map_err(failed)?;
    for entry in entries {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_missing(&source, &target, private)?;
        } else if !target.try_exists()? {
            copy(&source, &target).map_err(|error| format!("{}: {error}", target.display()))?;
        }
    }
    Ok(sync(to).map_err(failed)?)
}

/// Copies a file under a temporary name, and renames it once all of it is on the disk.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut partial = to.as_os_str().to_owned();
    partial.push(".part");
    match fs::copy(from, &partial) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        copied => copied?,
    };
    File::open(&partial)?.sync_all()?;
    fs::rename(&partial, to)
}

/// Removes photos and uploads of cards that are not in `cards`: these were erased before the store was copied, or are newer than
/// the copy.
fn remove_erased(copies: &Path, cards: &HashSet<CardId>) -> Result<(), Failure> {
    for entry in fs::read_dir(copies)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_erased(&path, cards)?;
        } else if card_of_file(&entry.file_name().to_string_lossy())
            .is_some_and(|card| !cards.contains(&card))
        {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(sync(copies)?)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
