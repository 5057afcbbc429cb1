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

/// What the name of the note of the last backup ends with.
const LAST: &str = "-last-backup";

/// A name of a photo has no slash, unlike an address.
const HIDE_PHOTOS: &str = "
    INSERT OR IGNORE INTO photo_moves (photo, target, due)
    SELECT image_url, 'hidden', 0 FROM reports WHERE hidden AND image_url LIKE '%.jpg' AND image_url NOT LIKE '%/%'";

/// Writes a copy of a file, as it is at one moment, to a new file, while a server may be using the first.
///
/// The copy gets its name only when it is complete and on the disk.
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
    let settled = match copied {
        Ok(_) => settle(&part, &to),
        Err(error) => Err(format!("{}: {}", to.display(), FileError::from(error)).into()),
    };
    if settled.is_err() {
        // The error is more use than that of the removal.
        let _ = remove(&part);
    }
    settled?;
    Ok(connection.close().await?)
}

/// Notes beside a file when it was last copied, for its operator. If that cannot be written, the copy is there nevertheless.
pub(super) fn note(path: &Path, now: Timestamp) {
    let _ = fs::write(with_suffix(path, LAST), format!("{now}\n"));
}

/// Returns when a file was last copied, as far as it was noted.
pub(super) fn last(path: &Path) -> Option<Timestamp> {
    Timestamp::parse(fs::read_to_string(with_suffix(path, LAST)).ok()?.trim()).ok()
}

/// Replaces a file by a backup, while no process uses it. Revisions are counted anew from then on: the file gets another
/// epoch. Returns where the replaced file is, of which one is kept.
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
    let failed = |error| database.failed(&error);
    file_system::check(database.folder()).map_err(failed)?;
    let _lock = ServerLock::take(&database.path).map_err(failed)?;
    let copy = Database::at(with_suffix(&database.path, ".restoring"), database.timeout);
    let restoring = async {
        remove_all(&copy.path)?;
        create_private(&copy.path)?;
        // `fs::copy` would copy the permissions, too.
        io::copy(&mut File::open(from)?, &mut OpenOptions::new().write(true).open(&copy.path)?)?;
        make_ready(&copy, clock).await
    };
    let done = match restoring.await {
        Ok(()) => replace(database, &copy.path).await.map_err(failed),
        Err(error) => Err(format!("the backup {}: {error}", from.display()).into()),
    };
    if done.is_err() {
        let _ = remove_all(&copy.path);
        if is_first {
            // It would say that there was a file.
            let _ = remove(&lock);
        }
    }
    done
}

/// Makes sure that a server can read a copy, brings its schema up to date, and gives it another epoch.
async fn make_ready(copy: &Database, clock: &Arc<dyn Clock>) -> Result<(), OpenError> {
    let mut connection = copy.connect().await?;
    let whole: String =
        query_scalar("PRAGMA quick_check").fetch_one(&mut connection).await.map_err(FileError::from)?;
    if whole != "ok" {
        return Err(format!("it is damaged: {whole}").into());
    }
    if schema::found(&mut connection).await.map_err(FileError::from)? == 0 {
        return Err("it is not a backup of this service".into());
    }
    schema::migrate(&mut connection).await?;
    schema::compare(&mut connection).await?;
    query("UPDATE counts SET epoch = random() & 0x7fffffffffffffff").execute(&mut connection).await?;
    // Since the backup, a hidden report may have been shown, and its photo with it.
    query(HIDE_PHOTOS).execute(&mut connection).await?;
    let counts = Counts::read(&mut connection).await?;
    contents::load(&mut connection, counts, clock.now()).await?;
    // One file, without a log beside it, can be renamed.
    query("PRAGMA journal_mode = DELETE").execute(&mut connection).await?;
    connection.close().await?;
    Ok(File::open(&copy.path)?.sync_all()?)
}

/// Gives a complete file the name of another one, which is kept under a name of its own. What the other one has in its log
/// must not be applied to this one.
async fn replace(database: &Database, by: &Path) -> Result<Option<PathBuf>, OpenError> {
    if database.path.exists()
        && let Ok(mut connection) = database.connect().await
    {
        // This moves the log into the file, and fails while another process has the file open. A damaged file is replaced.
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
    let kept = with_suffix(&database.path, ".before-restore");
    let replaced = fs::metadata(&database.path).ok();
    if let Some(replaced) = &replaced {
        // The command may be run by another user, such as root, than the server.
        chown(by, Some(replaced.uid()), Some(replaced.gid()))?;
        remove_all(&kept)?;
        // Under both names, so that there is a file at any moment. Some file systems have one name for a file only.
        fs::hard_link(&database.path, &kept).or_else(|_| fs::rename(&database.path, &kept))?;
    }
    let log = with_suffix(&database.path, "-wal");
    if log.exists() {
        // The file could not be opened. Its log may help to repair it.
        fs::rename(&log, with_suffix(&kept, "-wal"))?;
    }
    remove(&with_suffix(&database.path, "-shm"))?;
    fs::rename(by, &database.path)?;
    file_system::sync(database.folder())?;
    Ok(replaced.map(|_| kept))
}

/// Gives a file its name, after all of it is on the disk.
fn settle(part: &Path, to: &Path) -> Result<(), OpenError> {
    File::open(part)?.sync_all()?;
    fs::rename(part, to)?;
    Ok(file_system::sync(file_system::folder_of(to))?)
}

fn remove_all(path: &Path) -> Result<(), OpenError> {
    remove(path)?;
    ["-wal", "-shm", "-journal"].into_iter().try_for_each(|suffix| remove(&with_suffix(path, suffix)))
}

/// Removes a file if it is there.
fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()).into())
        }
        _ => Ok(()),
    }
}
