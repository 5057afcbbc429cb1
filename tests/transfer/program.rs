//! Import and export commands.

use std::collections::HashMap;
use std::process::{Command, Output};

use siaga::folder::FolderFile;

use crate::database::Database;
use crate::fixture::{self, block_on};
use crate::folders::{area, canonical_folder, cards, collection, contents, folder_of, square};
use crate::operations::write;
use crate::operator::Operator;
use crate::outcome::{printed, refusal};

fn siaga(database: &Database, arguments: &[&str]) -> Output {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_siaga"));
    command.args(arguments).current_dir(&elsewhere).env_clear();
    command.env("SIAGA_STORE", "postgres").env("DATABASE_URL", database.url()).output().unwrap()
}

fn said(database: &Database, arguments: &[&str]) -> String {
    printed(&siaga(database, arguments))
}

#[test]
fn the_program_imports_and_exports_folders() {
    let database = block_on(Database::empty());
    let folder = canonical_folder(fixture::dataset());
    let said = said(&database, &["import", folder.path().to_str().unwrap()]);
    assert!(
        said.contains("areas.geojson                 5 rows: 5 added, 0 replaced, 0 skipped\n"),
        "{said}"
    );
    let (_, notes) = said.split_once(" added, 0 replaced, 0 skipped, in ").unwrap();
    assert_eq!(notes.lines().count(), 2, "{said}");
    assert!(notes.contains("\nreports.geojson: 1 row is dated in the future"), "{said}");
    let exported = tempfile::tempdir().unwrap();
    let path = exported.path().join("new");
    printed(&siaga(&database, &["export", path.to_str().unwrap()]));
    assert_eq!(contents(&path), contents(folder.path()));

    let broken = folder_of(&[cards("new-card-1,10,,,,,99\n")]);
    let error = refusal(&siaga(&database, &["import", broken.path().to_str().unwrap()]));
    let path = broken.path().join("cards.csv");
    assert_eq!(error, format!("siaga: {}, line 2: report 99 is not the report of the card", path.display()));
    let error = refusal(&siaga(&database, &["import", "nowhere"]));
    assert_eq!(error, "siaga: nowhere is no folder");
}

#[test]
fn migrate_prints_the_applied_and_status_the_pending_migrations() {
    let operator = Operator::on(block_on(Database::empty()));
    let said = |command| said(operator.database(), &[command]);
    let status = said("status");
    assert!(
        status.starts_with("schema          0 of ") && status.ends_with("; run siaga migrate\n"),
        "{status}"
    );
    assert_eq!(block_on(operator.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")), 0);
    let first = said("migrate");
    assert!(first.starts_with("Applied migration 1, revisions, in "), "{first}");
    assert!(first.ends_with("; it was at version 0.\n"), "{first}");
    assert!(said("migrate").ends_with("; nothing to do.\n"));
}

#[rocket::async_test]
async fn status_prints_the_stored_data_and_its_freshness_while_a_server_runs() {
    let (operator, store) = Operator::live().await;
    let status = || -> HashMap<String, String> {
        let said = said(operator.database(), &["status"]);
        let line = |line: &str| (line[..16].trim_end().to_owned(), line[16..].to_owned());
        said.lines().map(line).collect()
    };
    let before = status();
    for (name, sql) in [
        ("areas", "SELECT count(*) FROM areas"),
        ("provinces", "SELECT count(*) FROM regions"),
        ("log entries", "SELECT count(*) FROM flood_changes"),
        ("reports", "SELECT count(*) FROM reports"),
        ("cards", "SELECT count(*) FROM cards"),
        ("readings", "SELECT count(*) FROM gauge_readings"),
        ("flooded areas", "SELECT 2::bigint"),
        ("keys", "SELECT 0::bigint"),
    ] {
        assert_eq!(before[name], operator.count(sql).await.to_string(), "{name}");
    }
    let (schema, needed) = before["schema"].split_once(" of ").unwrap();
    assert_eq!(schema, needed);
    assert!(before["newest state"].ends_with(" ago, 2016-12-19T13:41:35.000Z"), "{before:?}");
    assert!(!before["newest report"].contains("2099"), "{before:?}");
    store.set_flood_state(write(2, Some(1))).await.unwrap();
    let after = status();
    assert_eq!(after["flooded areas"], "3");
    assert_ne!(after["newest state"], before["newest state"]);
}

#[test]
fn import_prints_what_it_skips_repairs_and_removes() {
    let database = block_on(Database::with_fixture());
    let mut bow_tie = area(77, 9.0, 9.0);
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
    let expected = [
        "areas.geojson                 1 rows: 1 added, 0 replaced, 0 skipped",
        "regions.geojson               1 rows: 1 added, 0 replaced, 0 skipped",
        "together                      2 rows: 2 added, 0 replaced, 0 skipped, in ",
        "5 areas were removed, with ",
        "11 stored reports and pieces of infrastructure are in another area or city now",
        "areas.geojson: 1 outline was repaired, the first at line 2, feature 1 crosses",
        "regions.geojson: KODE is not kept (1 row)",
        "ignored, no part of a data set: rw.shp",
    ];
    assert_eq!(said.lines().count(), expected.len(), "{said}");
    for (line, expected) in said.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
}

#[test]
fn a_restored_backup_equals_the_original() {
    let (database, restored) = block_on(async { (Database::with_fixture().await, Database::empty().await) });
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    let dump = dump.to_str().unwrap();
    let (from, to) = (database.url(), restored.url());
    for (program, arguments) in [
        ("pg_dump", ["--format=custom", "--file", dump, &from]),
        ("pg_restore", ["--exit-on-error", "--dbname", &to, dump]),
    ] {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let contents = |database: Database| block_on(async { Operator::on(database).snapshot().await });
    assert!(contents(database) == contents(restored), "the restored database has something else");
}
