//! Store files that cannot be used or written: one line in the log, nothing lost.

use std::fs;

use std::process::Command;

use serde_json::{Value, json};

use crate::file_backups::execute;
use crate::file_commands::schema;
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::running::{KEY, PROGRAM};
use crate::service_config::{ServiceConfig, file_with_areas, siaga};
use crate::store_file::StoreFile;

#[test]
fn a_file_of_a_newer_version_is_refused_and_stays_as_it_is() {
    let file = block_on(StoreFile::with_fixture());
    let path = file.path();
    execute(
        &path,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', 1, x'00', 0)",
    );
    let (found, known) = (schema() + 1, schema());
    let expected = format!("its schema is at version {found}, made for a newer version of the service");
    let folder = tempfile::tempdir().unwrap();
    let cards = "card_id,pkey,username,network,language,network_data,report\n";
    fs::write(folder.path().join("cards.csv"), cards).unwrap();
    let folder = folder.path().to_str().unwrap();
    for arguments in
        [&[][..], &["migrate"], &["export", "new"], &["import", folder], &["key", "list"], &["backup", "new"]]
    {
        let error = refusal(&siaga(&path, arguments));
        assert!(error.contains(&expected), "{arguments:?}: {error}");
    }
    let status = printed(&siaga(&path, &["status"]));
    let schema = format!("schema          {found} of {known}; a newer version of the service has made it");
    assert!(status.starts_with(&schema), "{status}");
    execute(&path, "DELETE FROM _sqlx_migrations WHERE version = 9999");
    assert!(printed(&siaga(&path, &["status"])).contains("areas           5"));
}

#[test]
fn a_file_without_a_schema_is_migrated_by_a_server_and_by_the_command() {
    let file = StoreFile::none();
    let path = file.path();
    fs::write(&path, "").unwrap();
    let status = printed(&siaga(&path, &["status"]));
    let needed = schema();
    assert!(status.starts_with(&format!("schema          0 of {needed}; run siaga migrate\n")), "{status}");
    let error = refusal(&siaga(&path, &["export", "new"]));
    assert!(error.contains(&format!("is at version 0 and needs {needed}: run `siaga migrate`")), "{error}");
    let said = printed(&siaga(&path, &["migrate"]));
    assert!(said.starts_with("Applied migration 1, tables, in "), "{said}");
    assert!(said.contains(&format!("\nThe schema is at version {needed}; it was at ")), "{said}");
    let again = format!("The schema is at version {needed}; nothing to do.\n");
    assert_eq!(printed(&siaga(&path, &["migrate"])), again);
}

#[test]
fn a_path_that_cannot_be_a_store_file_is_reported_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    fs::write(&other, "").unwrap();
    execute(&other, "CREATE TABLE things (name TEXT)");
    let text = folder.path().join("text.db");
    fs::write(&text, "no database").unwrap();
    let missing = folder.path().join("missing/siaga.db");
    let advice = format!("does not exist: write mkdir -p {}", folder.path().join("missing").display());
    for (path, expected) in [
        (folder.path(), "is a folder; name a file in it"),
        (&missing, &advice),
        (&other, "it is a database of another program"),
        (&text, "it is not a file of this service"),
    ] {
        for arguments in [&[][..], &["migrate"], &["key", "list"]] {
            let error = refusal(&siaga(path, arguments));
            assert!(error.ends_with(expected), "{arguments:?}: {error}");
            assert!(error.contains(path.file_name().unwrap().to_str().unwrap()), "{error}");
        }
    }
    assert_eq!(fs::read_to_string(&text).unwrap(), "no database");
}

#[test]
fn a_disk_without_space_is_503_and_degraded_and_loses_nothing() {
    let file = file_with_areas();
    let path = file.path();
    // `ulimit -f` acts like a full disk.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 600; exec \"$0\"", PROGRAM]);
    let server = ServiceConfig::in_file(&path).run(limited);
    let card = json!({ "username": "u", "network": "n", "language": "id", "network_data": { "a": "x".repeat(9_000) } });
    let mut created = 0;
    // A change without space is rejected, a smaller one may still fit: repeat until the disk is full.
    let health = loop {
        assert!(created < 1_000, "the file does not become full");
        match server.request_json(KEY, "POST", "/v1/cards", &card) {
            (200, _) => created += 1,
            (status, body) => {
                assert_eq!(status, 503, "{body}");
                let (status, health) = server.request_json(KEY, "GET", "/health/ready", &Value::Null);
                assert_eq!(status, 200, "{health}");
                if health["result"]["status"] == "degraded" {
                    break health;
                }
            }
        }
    };
    assert_eq!(server.request_json(KEY, "GET", "/v1/floods/states", &Value::Null).0, 200, "reads go on");
    let checks = health["result"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "file").unwrap();
    assert_eq!((&check["ok"], &check["required"]), (&json!(false), &json!(false)), "{health}");
    let statuses: Vec<_> = (0..200).map(|_| server.request_json(KEY, "POST", "/v1/cards", &card).0).collect();
    created += statuses.iter().filter(|status| **status == 200).count();
    assert!(statuses.iter().filter(|status| **status == 503).count() > 100, "{statuses:?}");
    let log = server.kill();
    assert!(log.matches("ERROR").count() < 10, "one line a minute for each cause: {log}");
    let status = printed(&siaga(&path, &["status"]));
    let cards = status.lines().find_map(|line| line.strip_prefix("cards")).unwrap().trim();
    assert_eq!(cards, created.to_string(), "all acknowledged, and no other");
}
