//! The program.

use std::process::{Command, Output};

use siaga::conformance::block_on;
use siaga::conformance::fixture;

use crate::database::Database;
use crate::folders::{cards, contents, folder_of, saved};
use crate::operator::Operator;

/// Runs the program on a database.
fn siaga(database: &Database, arguments: &[&str]) -> Output {
    let elsewhere = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_siaga"))
        .args(arguments)
        .current_dir(&elsewhere)
        .env_clear()
        .env("SIAGA_STORE", "postgres")
        .env("DATABASE_URL", database.url())
        .output()
        .unwrap()
}

/// The one line on standard error of a run that ended with 1.
fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}

#[test]
fn the_program_imports_and_exports_folders() {
    let database = block_on(Database::empty());
    let folder = saved(fixture::dataset());
    let imported = siaga(&database, &["import", folder.path().to_str().unwrap()]);
    assert!(imported.status.success() && imported.stderr.is_empty(), "{imported:?}");
    let exported = tempfile::tempdir().unwrap();
    let path = exported.path().join("new");
    let output = siaga(&database, &["export", path.to_str().unwrap()]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(contents(&path), contents(folder.path()));

    let again = refusal(&siaga(&database, &["export", path.to_str().unwrap()]));
    assert!(again.starts_with("siaga: ") && again.contains("areas.geojson is there already"), "{again}");
    let broken = folder_of(&[cards("new-card-1,10,,,,,99\n")]);
    let error = refusal(&siaga(&database, &["import", broken.path().to_str().unwrap()]));
    let path = broken.path().join("cards.csv");
    assert_eq!(error, format!("siaga: {}, line 2: report 99 is not the report of the card", path.display()));
    let error = refusal(&siaga(&database, &["import", "nowhere"]));
    assert_eq!(error, "siaga: nowhere is no folder");
}

/// Runs a program of the database's.
fn postgres(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_backup_is_restored_as_the_same() {
    let (database, restored) = block_on(async { (Database::with_fixture().await, Database::empty().await) });
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    let dump = dump.to_str().unwrap();
    postgres("pg_dump", &["--format=custom", "--file", dump, &database.url()]);
    postgres("pg_restore", &["--exit-on-error", "--dbname", &restored.url(), dump]);
    let of = |database: Database| block_on(async { Operator::of(database).everything().await });
    assert!(of(database) == of(restored), "the restored database has something else");
}
