//! The commands of an operator on the store in one file, beside a running server and without one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use siaga::folder::FolderWriter;
use sqlx::{Connection, Executor};

use crate::eventually::eventually_blocking;
use crate::fixture::{self, block_on};
use crate::kept::{connect, siaga, start};
use crate::outcome::{printed, refusal};
use crate::store_file::StoreFile;

/// How soon after a command has ended the server knows what it did.
const SOON: Duration = Duration::from_secs(1);

/// Makes a key; answers what its holder sends.
fn create_key(path: &Path, name: &str) -> String {
    let said = printed(&siaga(path, &["key", "create", "--name", name, "--scope", "admin"]));
    said.trim_end().rsplit(' ').next().unwrap().to_owned()
}

/// Returns the version of the schema that the program needs.
pub(crate) fn schema() -> usize {
    fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/file")).unwrap().count()
}

fn with_fixture() -> StoreFile {
    block_on(StoreFile::with_fixture())
}

#[test]
fn a_second_server_on_a_file_ends_and_says_why() {
    let file = with_fixture();
    let first = start(&file.path());
    let error = refusal(&siaga(&file.path(), &[]));
    let path = file.path().canonicalize().unwrap();
    assert_eq!(
        error,
        format!(
            "siaga: the file {}: a server is using it: only one can, and must be stopped first",
            path.display()
        )
    );
    // A link is no way around it.
    let link = file.path().with_file_name("link.db");
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    assert_eq!(refusal(&siaga(&link, &[])), error);
    let elsewhere = file.path().with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let other_name = elsewhere.join("other.db");
    fs::hard_link(file.path(), &other_name).unwrap();
    let refused = refusal(&siaga(&other_name, &[]));
    assert!(
        refused.ends_with("other.db: a server is using it: only one can, and must be stopped first"),
        "{refused}"
    );
    for arguments in [&["migrate"][..], &["restore", link.to_str().unwrap()]] {
        assert_eq!(refusal(&siaga(&file.path(), arguments)), error, "{arguments:?}");
    }
    assert!(first.lines[0].contains(&format!("from the file {}", path.display())), "{:?}", first.lines);
}

#[test]
fn commands_work_beside_a_server_which_knows_within_a_second_what_they_did() {
    let file = with_fixture();
    let path = file.path();
    let server = start(&path);
    let key = create_key(&path, "desk");
    eventually_blocking("the key is known", SOON, || server.set(&key, 5, 3), |status| *status == 200);
    assert!(printed(&siaga(&path, &["key", "list"])).contains("desk"));
    let status = printed(&siaga(&path, &["status"]));
    let schema = format!("schema          {0} of {0}\nareas           5\n", schema());
    assert!(status.starts_with(&schema), "{status}");
    assert!(status.contains("flooded areas   "), "{status}");
    // One area was set just now; the states of the fixture are years old.
    assert!(status.contains("alerts in force 1\nunconfirmed     "), "{status}");
    assert!(status.contains("free on disk    ") && status.contains("last backup     none\n"), "{status}");
    let folder = tempfile::tempdir().unwrap();
    let exported = folder.path().join("exported");
    let said = printed(&siaga(&path, &["export", exported.to_str().unwrap()]));
    assert_eq!(said, format!("All stored data is in {}.\n", exported.display()));
    assert!(fs::read_to_string(exported.join("flood_states.csv")).unwrap().contains(",desk\n"));

    // What is imported shows beside what was there, and the server goes on writing.
    let areas = fs::read_to_string(exported.join("areas.geojson")).unwrap();
    let imported = folder.path().join("imported");
    fs::create_dir(&imported).unwrap();
    fs::write(imported.join("areas.geojson"), areas.replacen("\"area_id\":\"1\"", "\"area_id\":\"41\"", 1))
        .unwrap();
    let said = printed(&siaga(&path, &["import", imported.to_str().unwrap()]));
    assert!(said.contains("5 rows: 1 added, 0 replaced, 4 skipped"), "{said}");
    eventually_blocking("the area is known", SOON, || server.set(&key, 41, 2), |status| *status == 200);
    assert_eq!(server.set(&key, 1, 2), 200);

    printed(&siaga(&path, &["key", "revoke", "desk"]));
    eventually_blocking("the key is revoked", SOON, || server.set(&key, 5, 3), |status| *status == 403);
    server.kill();
    let log = |path: &Path| {
        let folder = tempfile::tempdir().unwrap();
        let exported = folder.path().join("exported");
        printed(&siaga(path, &["export", exported.to_str().unwrap()]));
        fs::read_to_string(exported.join("flood_states.csv")).unwrap()
    };
    assert!(log(&path).contains("\n41,2,"), "{}", log(&path));
}

#[test]
fn a_backup_made_beside_a_server_brings_data_and_photos_back() {
    let file = with_fixture();
    let path = file.path();
    let server = start(&path);
    let key = create_key(&path, "desk");
    eventually_blocking("the key is known", SOON, || server.set(&key, 5, 3), |status| *status == 200);
    let photos = path.with_file_name("siaga.db-images");
    fs::create_dir_all(photos.join("uploads")).unwrap();
    fs::write(photos.join("a.jpg"), "a photo").unwrap();
    fs::write(photos.join("uploads/b"), "an upload").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("monday.db");
    let arguments = ["backup", backup.to_str().unwrap()];
    let said = printed(&siaga(&path, &arguments));
    let photos_are = format!("; the photos are in {}-images.\n", backup.display());
    assert!(said.starts_with(&format!("The backup is in {}, ", backup.display())), "{said}");
    assert!(said.ends_with(&photos_are), "{said}");
    let status = printed(&siaga(&path, &["status"]));
    let last = status.lines().find(|line| line.starts_with("last backup     ")).unwrap();
    assert!(last.contains(" ago, 20"), "{last}");
    assert!(refusal(&siaga(&path, &arguments)).ends_with("monday.db is there already; name a new file"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&backup).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "it holds hashes of keys");

    assert_eq!(server.set(&key, 5, 1), 200);
    let restore = ["restore", backup.to_str().unwrap()];
    assert!(refusal(&siaga(&path, &restore)).contains("a server is using it"));
    assert_eq!(server.set(&key, 5, 2), 200);
    server.kill();
    fs::remove_dir_all(&photos).unwrap();
    let epoch = || {
        let reading = async {
            sqlx::query_scalar::<_, i64>("SELECT epoch FROM counts")
                .fetch_one(&mut connect(&path).await)
                .await
        };
        block_on(reading).unwrap()
    };
    let before = epoch();
    printed(&siaga(&path, &restore));
    assert_ne!(epoch(), before, "equal revisions can stand for other data");
    assert_eq!(fs::read_to_string(photos.join("a.jpg")).unwrap(), "a photo");
    assert_eq!(fs::read_to_string(photos.join("uploads/b")).unwrap(), "an upload");
    let server = start(&path);
    let (_, states) = server.ask(&key, "GET", "/v1/floods/states", &Value::Null);
    let state = states["result"].as_array().unwrap().iter().find(|of| of["area_id"] == "5").unwrap().clone();
    assert_eq!(state["state"], 3);
    assert_eq!(server.set(&key, 5, 1), 200);
}

#[test]
fn a_backup_that_is_copied_over_the_file_by_hand_sends_everything_to_clients_that_are_ahead() {
    let file = with_fixture();
    let path = file.path();
    let mut server = start(&path);
    let key = create_key(&path, "desk");
    eventually_blocking("the key is known", SOON, || server.set(&key, 5, 3), |status| *status == 200);
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("monday.db");
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    for state in [1, 2, 3, 4, 1] {
        assert_eq!(server.set(&key, 5, state), 200);
    }
    let (_, before) = server.ask(&key, "GET", "/v1/changes", &Value::Null);
    let cursor = before["result"]["cursor"].as_str().unwrap();
    // The server puts the log into the file when it ends.
    server.signal("TERM");
    assert_eq!(server.ended().0, Some(0));
    fs::copy(&backup, &path).unwrap();

    let server = start(&path);
    assert_eq!(server.set(&key, 2, 4), 200);
    let (_, after) = server.ask(&key, "GET", &format!("/v1/changes?since={cursor}"), &Value::Null);
    assert_eq!(after["result"]["full"], true, "{after}");
    let areas = after["result"]["areas"].as_array().unwrap().clone();
    let states: Vec<_> = areas.iter().map(|area| (&area["area_id"], &area["state"])).collect();
    assert!(
        states.contains(&(&json!("2"), &json!(4))) && states.contains(&(&json!("5"), &json!(3))),
        "{areas:?}"
    );
}

#[test]
fn a_backup_is_restored_over_a_damaged_file_and_no_other_file_is() {
    let file = with_fixture();
    let path = file.path();
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup.db");
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    fs::write(&path, "rubbish").unwrap();
    let error = refusal(&siaga(&path, &["status"]));
    assert!(error.ends_with("siaga.db: it is not a file of this service"), "{error}");
    let other = folder.path().join("other.db");
    fs::write(&other, "no backup").unwrap();
    for (wrong, expected) in [
        (other.to_str().unwrap(), "other.db: it is not a file of this service"),
        ("/nowhere/backup.db", "there is no backup /nowhere/backup.db"),
    ] {
        let error = refusal(&siaga(&path, &["restore", wrong]));
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "rubbish");
    printed(&siaga(&path, &["restore", backup.to_str().unwrap()]));
    assert!(printed(&siaga(&path, &["status"])).contains("areas           5"));
    let left: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("restoring")), "{left:?}");
}

#[test]
fn an_import_makes_the_file_and_other_commands_do_not() {
    let file = StoreFile::none();
    let path = file.path();
    for arguments in [&["status"][..], &["export", "new"], &["backup", "new.db"]] {
        let error = refusal(&siaga(&path, arguments));
        assert!(error.ends_with("there is no such file; a server or `siaga import` creates it"), "{error}");
        assert!(!path.exists(), "{arguments:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    fixture::dataset().save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
    let said = printed(&siaga(&path, &["import", folder.path().to_str().unwrap()]));
    assert!(said.starts_with("areas.geojson                 5 rows: 5 added"), "{said}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "it holds hashes of keys");
}

#[test]
fn reports_are_hidden_and_shown_beside_a_server() {
    let file = with_fixture();
    let path = file.path();
    let server = start(&path);
    let key = create_key(&path, "desk");
    let status = || server.ask(&key, "GET", "/v1/reports/7", &json!({})).0;
    eventually_blocking("the key is known", SOON, status, |status| *status == 200);
    let orders = [
        ("hide", 404, "report 7 is hidden\n", "report 7 was hidden already\n"),
        ("show", 200, "report 7 is shown\n", "report 7 was shown already\n"),
    ];
    for (order, expected, first, second) in orders {
        let arguments = ["reports", order, "7", "--reason", "a test"];
        assert_eq!(printed(&siaga(&path, &arguments)), first);
        assert_eq!(printed(&siaga(&path, &arguments)), second);
        eventually_blocking("the server knows", SOON, status, |status| *status == expected);
    }
    let unknown = siaga(&path, &["reports", "hide", "99", "--reason", "a test"]);
    assert_eq!(refusal(&unknown), "siaga: report 99 does not exist");
}

#[test]
fn erasures_are_repeated_after_the_restore_of_an_older_backup() {
    let file = with_fixture();
    let path = file.path();
    let backup = path.with_file_name("old.db");
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    printed(&siaga(&path, &["reports", "hide", "2", "--reason", "spam"]));
    printed(&siaga(&path, &["reports", "erase", "1", "7", "--reason", "asked for", "--username", "Ibu Ani"]));
    let log = printed(&siaga(&path, &["reports", "log"]));
    assert_eq!(log.lines().count(), 1 + 3, "{log}");
    printed(&siaga(&path, &["restore", backup.to_str().unwrap()]));

    let list = path.with_file_name("log.csv");
    // A report of another time, and one that the backup does not have.
    let more = [("99", "erase,6,"), ("98", "erase,99,")].map(|(day, of)| {
        format!("2017-01-01T00:00:00Z,{of}20{day}-01-01T00:00:00Z,siaga reports,,asked for\n")
    });
    fs::write(&list, log + &more.concat()).unwrap();
    let said = printed(&siaga(&path, &["reports", "erase", "--list", list.to_str().unwrap()]));
    let expected = "report 1 is erased\nreport 7 is erased\nreport 6 is left as it is: report 6 is another one, which was made \
                    at 2016-12-19T15:53:52.000Z\nreport 99 is not in the store\n";
    assert_eq!(said, expected);
    let again = printed(&siaga(&path, &["reports", "log"]));
    assert!(
        again.lines().skip(1).all(|line| line.contains(",erase,") && line.ends_with(",asked for")),
        "{again}"
    );
    fs::write(&list, "at,action,report,made_at,subject,username,reason\nnow,erase,1,now,a,b,c\n").unwrap();
    let error = refusal(&siaga(&path, &["reports", "erase", "--list", list.to_str().unwrap()]));
    assert!(error.contains("log.csv: entry 1: at must be a time"), "{error}");
}

#[test]
fn the_photos_of_hidden_reports_are_hidden_again_after_a_restore() {
    let file = with_fixture();
    let path = file.path();
    let backup = path.with_file_name("old.db");
    block_on(async {
        let mut connection = connect(&path).await;
        let hide = "UPDATE reports SET hidden = 1, image_url = coalesce(image_url, 'abcdefg.jpg') WHERE pkey IN (1, 4)";
        connection.execute(hide).await.unwrap();
        connection.close().await.unwrap();
    });
    printed(&siaga(&path, &["backup", backup.to_str().unwrap()]));
    printed(&siaga(&path, &["restore", backup.to_str().unwrap()]));
    let moves: Vec<(String, String)> = block_on(async {
        let mut connection = connect(&path).await;
        sqlx::query_as("SELECT photo, target FROM photo_moves").fetch_all(&mut connection).await.unwrap()
    });
    assert_eq!(moves, [("abcdefg.jpg".to_owned(), "hidden".to_owned())], "not the image from elsewhere");
}
