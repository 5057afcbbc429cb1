//! Photos in backups of the store in one file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use sqlx::{Connection, Executor};

use crate::eventually::{LONG, eventually_blocking};
use crate::fixture::block_on;
use crate::kept::{Kept, connect, siaga};
use crate::outcome::printed;
use crate::store_file::StoreFile;

fn with_fixture() -> StoreFile {
    block_on(StoreFile::with_fixture())
}

/// Writes files into the folder of photos, and returns the folder.
fn photos(store: &Path, names: &[&str]) -> std::path::PathBuf {
    let photos = store.with_file_name("siaga.db-images");
    for folder in ["hidden", "uploads"] {
        fs::create_dir_all(photos.join(folder)).unwrap();
    }
    for name in names {
        fs::write(photos.join(name), "a photo").unwrap();
    }
    photos
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_backup_has_only_photos_of_cards_that_it_has() {
    let file = with_fixture();
    let path = file.path();
    let kept = ["used-card.jpg", "hidden/used-card.jpg", "uploads/used-card.0.ab", "a.jpg"];
    let erased = ["erased-card.jpg", "hidden/erased-card.jpg", "uploads/erased-card.0.ab"];
    photos(&path, &[&kept[..], &erased].concat());
    let backup = path.with_file_name("monday.db");
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    let copies = path.with_file_name("monday.db-images");
    for name in kept {
        assert!(copies.join(name).exists(), "{name}");
    }
    for name in erased {
        assert!(!copies.join(name).exists(), "{name}");
    }
}

#[test]
fn only_its_owner_can_read_the_photos_in_a_backup_and_restored_ones_of_hidden_reports() {
    let file = with_fixture();
    let path = file.path();
    let photos = photos(&path, &["used-card.jpg", "hidden/used-card.jpg"]);
    let backup = path.with_file_name("monday.db");
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    let copies = path.with_file_name("monday.db-images");
    for folder in ["", "hidden", "uploads"] {
        assert_eq!(mode(&copies.join(folder)), 0o700, "{folder}");
    }
    fs::remove_dir_all(&photos).unwrap();
    printed(&siaga(&path, &["restore", backup.to_str().unwrap()]));
    assert!(photos.join("hidden/used-card.jpg").exists());
    assert_eq!(mode(&photos.join("hidden")), 0o700);
    assert_ne!(mode(&photos), 0o700, "a web server may serve the others");
}

#[test]
fn a_backup_whose_second_copy_of_the_photos_fails_leaves_nothing() {
    let file = with_fixture();
    let path = file.path();
    let photos = photos(&path, &["used-card.jpg"]);
    let backup = path.with_file_name("monday.db");
    let output = block_on(async {
        // The data can be copied only when this connection lets it go.
        let mut other = connect(&path).await;
        other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE counts SET changes = changes; COMMIT").await.unwrap();
        let mut command = Kept::in_file(&path).command(&["backup", backup.to_str().unwrap()]);
        let copying = command.stderr(Stdio::piped()).spawn().unwrap();
        let opened = format!("/proc/{}/fd", copying.id());
        let files = || {
            let files = fs::read_dir(&opened).into_iter().flatten().flatten();
            files.filter_map(|file| fs::read_link(file.path()).ok()).collect::<Vec<_>>()
        };
        eventually_blocking("the photos were copied", LONG, files, |files| files.contains(&path));
        // A folder cannot be copied as a photo.
        symlink(&photos, photos.join("new-card.jpg")).unwrap();
        other.close().await.unwrap();
        copying.wait_with_output().unwrap()
    });
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("new-card.jpg"), "{error}");
    for left in ["monday.db", "monday.db-images", "monday.db.part"] {
        assert!(!path.with_file_name(left).exists(), "{left}");
    }
}
