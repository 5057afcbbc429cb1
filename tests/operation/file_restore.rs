//! A restore of the store in one file: nothing is replaced before the backup was read, and what was replaced is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::fixture::block_on;
use crate::kept::{connect, siaga, start};
use crate::outcome::{printed, refusal};
use crate::store_file::StoreFile;

fn beside(path: &Path, suffix: &str) -> PathBuf {
    path.with_extension(format!("db{suffix}"))
}

/// Makes a backup that somebody has changed.
fn backup(path: &Path, name: &str, sql: &str) -> PathBuf {
    let backup = path.with_file_name(name);
    printed(&siaga(path, &["backup", backup.to_str().unwrap()]));
    block_on(async {
        let mut connection = connect(&backup).await;
        connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
        connection.close().await.unwrap();
    });
    backup
}

#[test]
fn a_backup_that_no_server_can_read_replaces_nothing() {
    let file = block_on(StoreFile::with_fixture());
    let path = file.path();
    let before = fs::read(&path).unwrap();
    for (name, sql, expected) in [
        ("row.db", "UPDATE flood_states SET state = 9", "row.db: the table flood_states has a wrong row: "),
        (
            "trigger.db",
            "CREATE TRIGGER spy AFTER INSERT ON cards BEGIN DELETE FROM reports; END",
            "trigger.db: the trigger spy is not as this service makes it",
        ),
        (
            "view.db",
            "CREATE VIEW spy AS SELECT * FROM cards",
            "view.db: the view spy is not as this service makes it",
        ),
        (
            "table.db",
            "ALTER TABLE cards ADD COLUMN more",
            "table.db: the table cards is not as this service makes it",
        ),
    ] {
        let backup = backup(&path, name, sql);
        let error = refusal(&siaga(&path, &["restore", backup.to_str().unwrap()]));
        assert!(error.contains(expected), "{error}");
        assert!(fs::read(&path).unwrap() == before, "{name}");
        let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| name.contains("restor")), "{names:?}");
    }
    // A failed restore leaves nothing that would keep a server from beginning.
    let other = StoreFile::none();
    let wrong = path.with_file_name("row.db");
    refusal(&siaga(&other.path(), &["restore", wrong.to_str().unwrap()]));
    printed(&siaga(&other.path(), &["migrate"]));
}

#[test]
fn the_file_that_a_restore_replaces_is_kept_and_the_new_one_is_private() {
    let file = block_on(StoreFile::with_fixture());
    let path = file.path();
    let kept = beside(&path, ".before-restore");
    let cards = |path: &Path| {
        block_on(async {
            let mut connection = connect(path).await;
            let query = "SELECT count(*) FROM cards WHERE network = 'changed'";
            let count: i64 = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            count
        })
    };
    let changed = backup(&path, "changed.db", "UPDATE cards SET network = 'changed'");
    let unchanged = backup(&path, "unchanged.db", "SELECT 1");
    for (from, mode, after, before) in [(&changed, 0o400, true, false), (&unchanged, 0o644, false, true)] {
        fs::set_permissions(from, fs::Permissions::from_mode(mode)).unwrap();
        let said = printed(&siaga(&path, &["restore", from.to_str().unwrap()]));
        let expected = format!(
            "What was replaced is in {}.\nThe store holds what {} held: newest state 2016-12-19T13:41:35.000Z, newest report ",
            kept.canonicalize().unwrap().display(),
            from.display()
        );
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!((cards(&path) > 0, cards(&kept) > 0), (after, before));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "from {mode:o}");
    }
    let server = start(&path);
    assert!(server.lines[0].contains("serves 5 areas"), "{:?}", server.lines);
    server.kill();
    // It can be restored as well.
    printed(&siaga(&path, &["restore", kept.to_str().unwrap()]));
    assert!(cards(&path) > 0);
}
