//! Commands on the file store, beside a running server and without one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use siaga::folder::FolderWriter;

use crate::eventually::eventually_blocking;
use crate::fixture::{self, block_on};
use crate::outcome::{printed, refusal};
use crate::running::KEY;
use crate::service_config::{siaga, start};
use crate::store_file::StoreFile;

/// Limit until a server sees the changes of a command.
const SOON: Duration = Duration::from_secs(1);

/// Returns the flood log of a file, by an export.
pub(crate) fn log(path: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let exported = folder.path().join("exported");
    printed(&siaga(path, &["export", exported.to_str().unwrap()]));
    fs::read_to_string(exported.join("flood_states.csv")).unwrap()
}

pub(crate) fn schema() -> usize {
    fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/file")).unwrap().count()
}

pub(crate) fn with_fixture() -> StoreFile {
    block_on(StoreFile::with_fixture())
}

#[test]
fn a_second_server_on_a_file_ends_and_says_why() {
    let file = with_fixture();
    let first = start(&file.path());
    let used = "a server is using it: only one can, and must be stopped first";
    let path = file.path().canonicalize().unwrap();
    let error = format!("siaga: the file {}: {used}", path.display());
    assert!(first.lines[0].contains(&format!("from the file {}", path.display())), "{:?}", first.lines);
    // A symbolic link does not bypass the lock.
    let link = file.path().with_file_name("link.db");
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    assert_eq!(refusal(&siaga(&link, &[])), error);
    let elsewhere = file.path().with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let other_name = elsewhere.join("other.db");
    fs::hard_link(file.path(), &other_name).unwrap();
    let refused = refusal(&siaga(&other_name, &[]));
    assert!(refused.ends_with(&format!("other.db: {used}")), "{refused}");
    for arguments in [&[][..], &["migrate"], &["restore", link.to_str().unwrap()]] {
        assert_eq!(refusal(&siaga(&file.path(), arguments)), error, "{arguments:?}");
    }
}

#[test]
fn commands_work_beside_a_server_which_sees_their_changes_within_a_second() {
    let file = with_fixture();
    let path = file.path();
    let server = start(&path);
    let said = printed(&siaga(&path, &["key", "create", "--name", "desk", "--scope", "admin"]));
    let key = said.trim_end().rsplit(' ').next().unwrap();
    eventually_blocking("the key is known", SOON, || server.set(key, 5, 3), |status| *status == 200);
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
    printed(&siaga(&path, &["export", exported.to_str().unwrap()]));
    assert!(fs::read_to_string(exported.join("flood_states.csv")).unwrap().contains(",desk\n"));

    // Imported and existing data are visible, and the server keeps writing.
    let areas = fs::read_to_string(exported.join("areas.geojson")).unwrap();
    let imported = folder.path().join("imported");
    fs::create_dir(&imported).unwrap();
    fs::write(imported.join("areas.geojson"), areas.replacen("\"area_id\":\"1\"", "\"area_id\":\"41\"", 1))
        .unwrap();
    let said = printed(&siaga(&path, &["import", imported.to_str().unwrap()]));
    assert!(said.contains("5 rows: 1 added, 0 replaced, 4 skipped"), "{said}");
    eventually_blocking("the area is known", SOON, || server.set(key, 41, 2), |status| *status == 200);
    assert_eq!(server.set(key, 1, 2), 200);

    printed(&siaga(&path, &["key", "revoke", "desk"]));
    eventually_blocking("the key is revoked", SOON, || server.set(key, 5, 3), |status| *status == 403);
    server.kill();
    assert!(log(&path).contains("\n41,2,"), "{}", log(&path));
}

#[test]
fn only_an_import_creates_the_file() {
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
    let status = || server.request_json(KEY, "GET", "/v1/reports/7", &json!({})).0;
    assert_eq!(status(), 200);
    let moderations = [
        ("hide", 404, "report 7 is hidden\n", "report 7 was hidden already\n"),
        ("show", 200, "report 7 is shown\n", "report 7 was shown already\n"),
    ];
    for (moderation, expected, first, second) in moderations {
        let arguments = ["reports", moderation, "7", "--reason", "a test"];
        assert_eq!(printed(&siaga(&path, &arguments)), first);
        assert_eq!(printed(&siaga(&path, &arguments)), second);
        eventually_blocking("the server knows", SOON, status, |status| *status == expected);
    }
    let unknown = siaga(&path, &["reports", "hide", "99", "--reason", "a test"]);
    assert_eq!(refusal(&unknown), "siaga: report 99 does not exist");
}
