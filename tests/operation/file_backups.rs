//! Backup and restore of the file store.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::eventually::{LONG, eventually_blocking};
use crate::file_commands::with_fixture;
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::running::KEY;
use crate::service_config::{ServiceConfig, connect, siaga, start};
use crate::store_file::StoreFile;

fn backup(path: &Path, name: &str) -> PathBuf {
    let backup = path.with_file_name(name);
    printed(&siaga(path, &["backup", backup.to_str().unwrap()]));
    backup
}

fn restore(path: &Path, backup: &Path) -> String {
    printed(&siaga(path, &["restore", backup.to_str().unwrap()]))
}

fn refused_restore(path: &Path, backup: &Path) -> String {
    refusal(&siaga(path, &["restore", backup.to_str().unwrap()]))
}

/// Changes a store file without Siaga.
pub(crate) fn execute(path: &Path, sql: &str) {
    block_on(async {
        let mut connection = connect(path).await;
        connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
        connection.close().await.unwrap();
    });
}

fn count(path: &Path, sql: &'static str) -> i64 {
    let count = async { sqlx::query_scalar(sql).fetch_one(&mut connect(path).await).await };
    block_on(count).unwrap()
}

fn names_beside(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Writes files into the folder of photos, and returns the folder.
fn photos(store: &Path, names: &[&str]) -> PathBuf {
    let photos = store.with_file_name("siaga.db-images");
    for folder in ["hidden", "uploads"] {
        fs::create_dir_all(photos.join(folder)).unwrap();
    }
    for name in names {
        fs::write(photos.join(name), name).unwrap();
    }
    photos
}

#[test]
fn a_backup_made_beside_a_running_server_restores_data_and_photos() {
    let file = with_fixture();
    let path = file.path();
    let server = start(&path);
    assert_eq!(server.set(KEY, 5, 3), 200);
    let photos = photos(&path, &["a.jpg", "uploads/b"]);
    let backup = path.with_file_name("monday.db");
    let arguments = ["backup", backup.to_str().unwrap()];
    let said = printed(&siaga(&path, &arguments));
    assert!(said.ends_with(&format!("; the photos are in {}-images.\n", backup.display())), "{said}");
    let status = printed(&siaga(&path, &["status"]));
    let last = status.lines().find(|line| line.starts_with("last backup     ")).unwrap();
    assert!(last.contains(" ago, 20"), "{last}");
    assert!(refusal(&siaga(&path, &arguments)).ends_with("monday.db is there already; name a new file"));
    assert_eq!(mode(&backup), 0o600, "it holds hashes of keys");

    assert_eq!(server.set(KEY, 5, 1), 200);
    assert!(refused_restore(&path, &backup).contains("a server is using it"));
    assert_eq!(server.set(KEY, 5, 2), 200);
    server.kill();
    fs::remove_dir_all(&photos).unwrap();
    let before = count(&path, "SELECT epoch FROM counts");
    restore(&path, &backup);
    assert_ne!(count(&path, "SELECT epoch FROM counts"), before, "equal revisions can stand for other data");
    for name in ["a.jpg", "uploads/b"] {
        assert_eq!(fs::read_to_string(photos.join(name)).unwrap(), name);
    }
    let server = start(&path);
    let (_, states) = server.request_json(KEY, "GET", "/v1/floods/states", &Value::Null);
    let mut states = states["result"].as_array().unwrap().iter();
    assert_eq!(states.find(|state| state["area_id"] == "5").unwrap()["state"], 3);
    assert_eq!(server.set(KEY, 5, 1), 200);
}

#[test]
fn clients_ahead_of_a_backup_copied_over_the_file_get_the_full_state() {
    let file = with_fixture();
    let path = file.path();
    let mut server = start(&path);
    assert_eq!(server.set(KEY, 5, 3), 200);
    let backup = backup(&path, "monday.db");
    for state in [1, 2, 3, 4, 1] {
        assert_eq!(server.set(KEY, 5, state), 200);
    }
    let before = server.expect_ok("GET", "/v1/changes", &Value::Null);
    let cursor = before["result"]["cursor"].as_str().unwrap();
    // Shutdown moves the write-ahead log into the file.
    server.signal("TERM");
    assert_eq!(server.wait_for_exit().0, Some(0));
    fs::copy(&backup, &path).unwrap();

    let server = start(&path);
    assert_eq!(server.set(KEY, 2, 4), 200);
    let after = server.expect_ok("GET", &format!("/v1/changes?since={cursor}"), &Value::Null);
    assert_eq!(after["result"]["full"], true, "{after}");
    let areas = after["result"]["areas"].as_array().unwrap().iter();
    let states: Vec<_> = areas.map(|area| (&area["area_id"], &area["state"])).collect();
    for expected in [(&json!("2"), &json!(4)), (&json!("5"), &json!(3))] {
        assert!(states.contains(&expected), "{states:?}");
    }
}

#[test]
fn an_unreadable_backup_replaces_nothing_and_a_valid_one_replaces_a_damaged_file() {
    let file = with_fixture();
    let path = file.path();
    let right = backup(&path, "right.db");
    fs::write(&path, "rubbish").unwrap();
    for (name, sql, expected) in [
        ("row.db", "UPDATE flood_states SET state = 9", "the table flood_states has a wrong row: "),
        (
            "trigger.db",
            "CREATE TRIGGER spy AFTER INSERT ON cards BEGIN SELECT 1; END",
            "trigger spy is not as",
        ),
        ("view.db", "CREATE VIEW spy AS SELECT * FROM cards", "the view spy is not as this service makes it"),
        ("table.db", "ALTER TABLE cards ADD COLUMN more", "the table cards is not as this service makes it"),
        ("text.db", "", "it is not a file of this service"),
        ("nowhere.db", "", "there is no backup "),
    ] {
        let wrong = path.with_file_name(name);
        if name == "text.db" {
            fs::write(&wrong, "no backup").unwrap();
        } else if !sql.is_empty() {
            fs::copy(&right, &wrong).unwrap();
            execute(&wrong, sql);
        }
        let error = refused_restore(&path, &wrong);
        assert!(error.contains(expected) && error.contains(name), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "rubbish", "{name}");
        let names = names_beside(&path);
        assert!(!names.iter().any(|name| name.contains("restor")), "{names:?}");
    }
    restore(&path, &right);
    assert!(printed(&siaga(&path, &["status"])).contains("areas           5"));
    // A failed restore leaves nothing that blocks a startup.
    let other = StoreFile::none();
    refused_restore(&other.path(), &path.with_file_name("row.db"));
    printed(&siaga(&other.path(), &["migrate"]));
}

#[test]
fn the_file_that_a_restore_replaces_is_kept_and_the_new_one_is_private() {
    let file = with_fixture();
    let path = file.path();
    let replaced = path.with_file_name("siaga.db.before-restore");
    let is_changed = |path: &Path| count(path, "SELECT count(*) FROM cards WHERE network = 'changed'") > 0;
    let (changed, unchanged) = (backup(&path, "changed.db"), backup(&path, "unchanged.db"));
    execute(&changed, "UPDATE cards SET network = 'changed'");
    for (from, permissions, after, before) in
        [(&changed, 0o400, true, false), (&unchanged, 0o644, false, true)]
    {
        fs::set_permissions(from, fs::Permissions::from_mode(permissions)).unwrap();
        let said = restore(&path, from);
        let place = replaced.canonicalize().unwrap();
        assert!(said.starts_with(&format!("What was replaced is in {}.\n", place.display())), "{said}");
        assert!(said.contains("newest state 2016-12-19T13:41:35.000Z, newest report "), "{said}");
        assert_eq!((is_changed(&path), is_changed(&replaced)), (after, before));
        assert_eq!(mode(&path), 0o600, "from {permissions:o}");
    }
    assert!(start(&path).lines[0].contains("serves 5 areas"));
    // The replaced file can be restored as well.
    restore(&path, &replaced);
    assert!(is_changed(&path));
}

#[test]
fn erasures_are_repeated_after_the_restore_of_an_older_backup() {
    let file = with_fixture();
    let path = file.path();
    let backup = backup(&path, "old.db");
    printed(&siaga(&path, &["reports", "hide", "2", "--reason", "spam"]));
    printed(&siaga(&path, &["reports", "erase", "1", "7", "--reason", "asked for", "--username", "Ibu Ani"]));
    let log = printed(&siaga(&path, &["reports", "log"]));
    assert_eq!(log.lines().count(), 1 + 3, "{log}");
    restore(&path, &backup);

    let list = path.with_file_name("log.csv");
    // Moderation of a report with another time, and of one that is not in the backup.
    let more = [("99", "erase,6,"), ("98", "erase,99,")].map(|(day, item)| {
        format!("2017-01-01T00:00:00Z,{item}20{day}-01-01T00:00:00Z,siaga reports,,asked for\n")
    });
    fs::write(&list, log + &more.concat()).unwrap();
    let arguments = ["reports", "erase", "--list", list.to_str().unwrap()];
    let said = printed(&siaga(&path, &arguments));
    let expected = [
        "report 1 is erased",
        "report 7 is erased",
        "report 6 is left as it is: report 6 is another one, which was made at 2016-12-19T15:53:52.000Z",
        "report 99 is not in the store",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    let again = printed(&siaga(&path, &["reports", "log"]));
    let is_erasure = |line: &str| line.contains(",erase,") && line.ends_with(",asked for");
    assert!(again.lines().skip(1).all(is_erasure), "{again}");
    fs::write(&list, "at,action,report,made_at,subject,username,reason\nnow,erase,1,now,a,b,c\n").unwrap();
    let error = refusal(&siaga(&path, &arguments));
    assert!(error.contains("log.csv: entry 1: at must be a time"), "{error}");
}

#[test]
fn the_photos_of_hidden_reports_are_hidden_again_after_a_restore() {
    let file = with_fixture();
    let path = file.path();
    let hide =
        "UPDATE reports SET hidden = 1, image_url = coalesce(image_url, 'abcdefg.jpg') WHERE pkey IN (1, 4)";
    execute(&path, hide);
    let backup = backup(&path, "old.db");
    restore(&path, &backup);
    // Without the external image.
    assert_eq!(count(&path, "SELECT count(*) FROM photo_moves"), 1);
    let moved = "SELECT count(*) FROM photo_moves WHERE photo = 'abcdefg.jpg' AND target = 'hidden'";
    assert_eq!(count(&path, moved), 1);
}

#[test]
fn a_backup_has_only_photos_of_its_own_cards_readable_by_its_owner_only() {
    let file = with_fixture();
    let path = file.path();
    let replaced = ["used-card.jpg", "hidden/used-card.jpg", "uploads/used-card.0.ab", "a.jpg"];
    let erased = ["erased-card.jpg", "hidden/erased-card.jpg", "uploads/erased-card.0.ab"];
    let photos = photos(&path, &[&replaced[..], &erased].concat());
    let backup = backup(&path, "monday.db");
    let copies = path.with_file_name("monday.db-images");
    for (names, are_there) in [(&replaced[..], true), (&erased, false)] {
        for name in names {
            assert_eq!(copies.join(name).exists(), are_there, "{name}");
        }
    }
    for folder in ["", "hidden", "uploads"] {
        assert_eq!(mode(&copies.join(folder)), 0o700, "{folder}");
    }
    fs::remove_dir_all(&photos).unwrap();
    restore(&path, &backup);
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
        // The copy waits for this connection's lock.
        let mut other = connect(&path).await;
        other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE counts SET changes = changes; COMMIT").await.unwrap();
        let mut command = ServiceConfig::in_file(&path).command(&["backup", backup.to_str().unwrap()]);
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
    let names = names_beside(&path);
    assert!(!names.iter().any(|name| name.contains("monday")), "{names:?}");
}
