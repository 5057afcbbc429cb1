use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use sqlx::{Connection, query, query_scalar};

use super::contents::{self, Counts};
use super::database::Database;
use super::error::{Cause, FileError};
use super::file_system::create_private;
use super::server_lock::ServerLock;
use super::settings::with_suffix;
use super::{file_system, schema};
use crate::model::{Clock, Timestamp};
use crate::stores::OpenError;

/// Suffix of the file that records the time of the last backup.
const LAST: &str = "-last-backup";

/// Queues the photos of hidden reports to be moved to the private storage. File names of photos, unlike addresses, have no slash.
const HIDE_PHOTOS: &str = "
    INSERT OR IGNORE INTO photo_moves (photo, target, due)
    SELECT image_url, 'hidden', 0 FROM reports WHERE hidden AND image_url LIKE '%.jpg' AND image_url NOT LIKE '%/%'";

/// Writes a snapshot of the database file, which a server may be using, to a new file. The copy gets its final name only when it
/// is complete and on the disk.
pub(super) async fn backup(database: &Database, to: &Path) -> Result<(), OpenError> {
    if to.try_exists()? {
        return Err(format!("{} is there already; name a new file", to.display()).into());
    }
    let to = absolute(to)?;
    let part = with_suffix(&to, ".part");
    let mut connection = database.connect_to_read().await?;
    schema::check(&mut connection).await?;
    remove(&part)?;
    create_private(&part)?;
    let copied = query("VACUUM INTO ?").bind(part.to_string_lossy()).execute(&mut connection).await;
    let finished = match copied {
        Ok(_) => finish(&part, &to),
        Err(error) => Err(format!("{}: {}", to.display(), FileError::from(error)).into()),
    };
    if finished.is_err() {
        // A failure here is ignored, because the first error is more useful.
        let _ = remove(&part);
    }
    finished?;
    Ok(connection.close().await?)
}

/// Records the time of a backup next to the database file. Failures are ignored, because the backup itself is complete.
pub(super) fn record_time(path: &Path, now: Timestamp) {
    let _ = fs::write(with_suffix(path, LAST), format!("{now}\n"));
}

pub(super) fn last_time(path: &Path) -> Option<Timestamp> {
    Timestamp::parse(fs::read_to_string(with_suffix(path, LAST)).ok()?.trim()).ok()
}

/// Replaces the database file by a backup, and starts a new epoch of revisions. Fails if a process uses the file. Returns the
/// path of the replaced file; only the last replaced file is kept.
pub(super) async fn restore(
    database: &Database,
    from: &Path,
    clock: &Arc<dyn Clock>,
) -> Result<Option<PathBuf>, OpenError> {
    if !from.is_file() {
        return Err(format!("there is no backup {}", from.display()).into());
    }
    let lock = ServerLock::path_of(&database.path);
    let is_first = !database.path.exists() && !lock.exists();
    let failed = |error| database.with_path(&error);
    file_system::check(database.folder()).map_err(failed)?;
    let _lock = ServerLock::take(&database.path).map_err(failed)?;
    let copy = Database::new(with_suffix(&database.path, ".restoring"), database.timeout);
    let restore = async {
        remove_all(&copy.path)?;
        create_private(&copy.path)?;
        // Does not use `fs::copy`, which would copy the permissions too.
        io::copy(&mut File::open(from)?, &mut OpenOptions::new().write(true).open(&copy.path)?)?;
        prepare(&copy, clock).await
    };
    let done = match restore.await {
        Ok(()) => replace(database, &copy.path).await.map_err(failed),
        Err(error) => Err(format!("the backup {}: {error}", from.display()).into()),
    };
    if done.is_err() {
        let _ = remove_all(&copy.path);
        if is_first {
            // A lock file without a database file would look as if the database file had been lost.
            let _ = remove(&lock);
        }
    }
    done
}

/// Checks a copy, migrates its schema, and sets a new epoch.
async fn prepare(copy: &Database, clock: &Arc<dyn Clock>) -> Result<(), OpenError> {
    let mut connection = copy.connect().await?;
    let result: String =
        query_scalar("PRAGMA quick_check").fetch_one(&mut connection).await.map_err(FileError::from)?;
    if result != "ok" {
        return Err(format!("it is damaged: {result}").into());
    }
    if schema::count_applied(&mut connection).await.map_err(FileError::from)? == 0 {
        return Err("it is not a backup of this service".into());
    }
    schema::migrate(&mut connection).await?;
    schema::compare(&mut connection).await?;
    query("UPDATE counts SET epoch = random() & 0x7fffffffffffffff").execute(&mut connection).await?;
    // A photo may be public although its report is hidden in the backup: the report may have been shown after the backup.
    query(HIDE_PHOTOS).execute(&mut connection).await?;
    let counts = Counts::read(&mut connection).await?;
    contents::load(&mut connection, counts, clock.now()).await?;
    // Merges the log into the file: only a file without a separate log can be renamed.
    query("PRAGMA journal_mode = DELETE").execute(&mut connection).await?;
    connection.close().await?;
    Ok(File::open(&copy.path)?.sync_all()?)
}

/// Renames a complete file over the database file. Keeps the old file and its log under another name, because `SQLite` must not
/// apply the old log to the new file.
async fn replace(database: &Database, by: &Path) -> Result<Option<PathBuf>, OpenError> {
    if database.path.exists()
        && let Ok(mut connection) = database.connect().await
    {
        // Merges the log into the file, which fails while another process has the file open. A damaged file is replaced anyway.
        let mode = query_scalar::<_, String>("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
        let in_use = match &mode {
            Ok(mode) => mode != "delete",
            Err(error) => Cause::classify(error) == Cause::Busy,
        };
        connection.close().await.map_err(FileError::from)?;
        if in_use {
            return Err("another process is using it".into());
        }
    }
    let previous = with_suffix(&database.path, ".before-restore");
    let replaced = fs::metadata(&database.path).ok();
    if let Some(replaced) = &replaced {
        // The new file gets the owner of the old one, because the command may run as another user than the server, such as root.
        chown(by, Some(replaced.uid()), Some(replaced.gid()))?;
        remove_all(&previous)?;
        // With a hard link, the database file exists at any moment. Some file systems do not support hard links.
        fs::hard_link(&database.path, &previous).or_else(|_| fs::rename(&database.path, &previous))?;
    }
    let log = with_suffix(&database.path, "-wal");
    if log.exists() {
        // The log still exists, so the old file could not be opened. Keep the log, because it may help to repair the file.
        fs::rename(&log, with_suffix(&previous, "-wal"))?;
    }
    remove(&with_suffix(&database.path, "-shm"))?;
    fs::rename(by, &database.path)?;
    file_system::sync(database.folder())?;
    Ok(replaced.map(|_| previous))
}

fn finish(part: &Path, to: &Path) -> Result<(), OpenError> {
    File::open(part)?.sync_all()?;
    fs::rename(part, to)?;
    Ok(file_system::sync(file_system::folder_of(to))?)
}

fn remove_all(path: &Path) -> Result<(), OpenError> {
    remove(path)?;
    ["-wal", "-shm", "-journal"].into_iter().try_for_each(|suffix| remove(&with_suffix(path, suffix)))
}

fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()).into())
        }
        _ => Ok(()),
    }
}
