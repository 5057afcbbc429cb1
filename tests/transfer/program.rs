//! The program.

use std::process::{Command, Output};

use siaga::folder::FolderFile;

use crate::asking::order;
use crate::database::Database;
use crate::fixture::{self, block_on};
use crate::folders::{area, cards, collection, contents, folder_of, saved, square};
use crate::operator::Operator;
use crate::outcome::{printed, refusal};

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

#[test]
fn the_program_imports_and_exports_folders() {
    let database = block_on(Database::empty());
    let folder = saved(fixture::dataset());
    let said = said(&database, &["import", folder.path().to_str().unwrap()]);
    let first = said.lines().next().unwrap();
    assert_eq!(first, "areas.geojson                 5 rows: 5 added, 0 replaced, 0 skipped", "{said}");
    let (together, notes) = {
        let mut last = said.lines().skip(FolderFile::ALL.len());
        (last.next().unwrap(), last.collect::<Vec<_>>())
    };
    assert!(
        together.starts_with("together  ") && together.contains(" added, 0 replaced, 0 skipped, in "),
        "{said}"
    );
    assert_eq!(notes.len(), 1, "{said}");
    assert!(notes[0].starts_with("reports.geojson: 1 row is dated in the future"), "{said}");
    let exported = tempfile::tempdir().unwrap();
    let path = exported.path().join("new");
    printed(&siaga(&database, &["export", path.to_str().unwrap()]));
    assert_eq!(contents(&path), contents(folder.path()));

    let again = refusal(&siaga(&database, &["export", path.to_str().unwrap()]));
    assert!(again.starts_with("siaga: ") && again.contains("areas.geojson is there already"), "{again}");
    let broken = folder_of(&[cards("new-card-1,10,,,,,99\n")]);
    let error = refusal(&siaga(&database, &["import", broken.path().to_str().unwrap()]));
    let path = broken.path().join("cards.csv");
    assert_eq!(error, format!("siaga: {}, line 2: report 99 is not the report of the card", path.display()));
    let error = refusal(&siaga(&database, &["import", "nowhere"]));
    assert_eq!(error, "siaga: nowhere is no folder");
    let stray = tempfile::tempdir().unwrap();
    std::fs::write(stray.path().join("areas.json"), "{}").unwrap();
    let error = refusal(&siaga(&database, &["import", stray.path().to_str().unwrap()]));
    assert!(error.contains(" holds no data set: looked for areas.geojson, "), "{error}");
    assert!(error.ends_with("; found areas.json"), "{error}");
}

fn said(database: &Database, arguments: &[&str]) -> String {
    printed(&siaga(database, arguments))
}

#[test]
fn migrate_says_what_it_did() {
    let database = block_on(Database::empty());
    let first = said(&database, &["migrate"]);
    let lines: Vec<_> = first.lines().collect();
    let (last, applied) = lines.split_last().unwrap();
    assert!(applied[0].starts_with("Applied migration 1, revisions, in "), "{first}");
    assert_eq!(*last, format!("The schema is at version {}; it was at version 0.", applied.len()));
    let again = format!("The schema is at version {}; nothing to do.\n", applied.len());
    assert_eq!(said(&database, &["migrate"]), again);
}

#[rocket::async_test]
async fn status_tells_what_is_stored_and_how_fresh_it_is_while_a_server_runs() {
    let operator = Operator::with_fixture().await;
    let store = operator.store().await;
    let lines = || -> std::collections::HashMap<String, String> {
        let said = said(operator.database(), &["status"]);
        let line = |line: &str| {
            let (name, value) = line.split_at(16);
            (name.trim_end().to_owned(), value.to_owned())
        };
        said.lines().map(line).collect()
    };
    let before = lines();
    for (name, sql) in [
        ("areas", "SELECT count(*) FROM areas"),
        ("log entries", "SELECT count(*) FROM flood_changes"),
        ("reports", "SELECT count(*) FROM reports"),
        ("cards", "SELECT count(*) FROM cards"),
        ("readings", "SELECT count(*) FROM gauge_readings"),
    ] {
        assert_eq!(before[name], operator.count(sql).await.to_string(), "{name}");
    }
    assert_eq!((&*before["provinces"], &*before["flooded areas"], &*before["keys"]), ("2", "2", "0"));
    assert!(
        before["schema"].ends_with(&format!(" of {}", before["schema"].split(' ').next().unwrap())),
        "{before:?}"
    );
    assert!(before["newest state"].ends_with(" ago, 2016-12-19T13:41:35.000Z"), "{before:?}");
    assert!(!before["newest report"].contains("2099"), "{before:?}");
    store.set_flood_state(order(2, Some(1))).await.unwrap();
    let after = lines();
    assert_eq!(after["flooded areas"], "3");
    assert_ne!(after["newest state"], before["newest state"]);
}

#[test]
fn status_of_a_database_without_a_schema_says_what_to_do_and_makes_none() {
    let operator = Operator::of(block_on(Database::empty()));
    let said = said(operator.database(), &["status"]);
    assert!(said.starts_with("schema          0 of ") && said.ends_with("; run siaga migrate\n"), "{said}");
    assert_eq!(block_on(operator.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")), 0);
}

#[test]
fn import_says_what_it_leaves_out_repairs_and_removes() {
    let database = block_on(Database::with_fixture());
    let mut bow_tie = area(77, 9.0, 9.0);
    bow_tie["properties"]["city"] = "jbd".into();
    bow_tie["geometry"]["coordinates"][0].as_array_mut().unwrap().swap(1, 2);
    let province = square(serde_json::json!({ "code": "ID-9", "name": "New", "KODE": 3 }), 30.0, 0.0);
    let folder = folder_of(&[
        (FolderFile::Areas, collection(&[bow_tie])),
        (FolderFile::Regions, collection(&[province])),
    ]);
    std::fs::write(folder.path().join("rw.shp"), "").unwrap();
    let path = folder.path().to_str().unwrap();
    let error = refusal(&siaga(&database, &["import", path]));
    assert!(error.contains("line 2: feature 1 (area_id 77): geometry crosses itself at "), "{error}");
    let said = said(&database, &["import", path, "--repair", "--replace", "areas-and-log"]);
    let lines: Vec<_> = said.lines().collect();
    let [areas, provinces, together, removed, relocated, repaired, unkept, ignored] = lines[..] else {
        panic!("{said}")
    };
    assert_eq!(areas, "areas.geojson                 1 rows: 1 added, 0 replaced, 0 skipped");
    assert!(
        together.starts_with("together                      2 rows: 2 added, 0 replaced, 0 skipped, in "),
        "{said}"
    );
    assert!(removed.starts_with("5 areas were removed, with "), "{said}");
    assert_eq!(relocated, "11 stored reports and pieces of infrastructure are in another area or city now");
    assert!(
        repaired.starts_with("areas.geojson: 1 outline was repaired, the first at line 2, feature 1 crosses"),
        "{said}"
    );
    assert_eq!(provinces, "regions.geojson               1 rows: 1 added, 0 replaced, 0 skipped");
    assert_eq!(unkept, "regions.geojson: KODE is not kept (1 row)");
    assert_eq!(ignored, "ignored, no part of a data set: rw.shp");
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
