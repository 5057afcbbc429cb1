//! Store files removed or locked under a running server: no confirmed change is lost, and the log has the cause.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{Connection, Executor};

use crate::eventually::{LONG, eventually_blocking};
use crate::file_commands::log;
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::running::{KEY, Running};
use crate::service_config::{connect, file_with_areas, siaga, start};

/// Appends a suffix to a path.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    path.with_extension(format!("db{suffix}"))
}

/// Returns the health status, and the error of the file.
fn health(server: &Running) -> (String, Value) {
    let (status, health) = server.request_json(KEY, "GET", "/health/ready", &Value::Null);
    assert_eq!(status, 200, "{health}");
    let checks = health["result"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "file").unwrap();
    (health["result"]["status"].as_str().unwrap().to_owned(), check["reason"].clone())
}

fn is_degraded(server: &Running, reason: &str) {
    let expected = ("degraded".to_owned(), json!(reason));
    eventually_blocking(reason, LONG, || health(server), |health| *health == expected);
}

fn is_written_again(server: &Running) {
    eventually_blocking("a change", LONG, || server.set(KEY, 1, 2), |status| *status == 200);
    eventually_blocking("the health", LONG, || health(server), |(status, _)| status == "ready");
}

/// Returns the number of changes in a file.
fn changes(path: &Path) -> usize {
    log(path).lines().skip(1).count()
}

fn write_errors(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("cannot be written")).collect()
}

#[test]
fn no_change_is_confirmed_while_the_file_of_a_server_is_gone() {
    let file = file_with_areas();
    let (path, away) = (file.path(), with_suffix(&file.path(), ".away"));
    let server = start(&path);
    assert_eq!(server.set(KEY, 1, 1), 200);
    fs::rename(&path, &away).unwrap();
    assert_eq!(server.set(KEY, 2, 1), 503, "the first change after it");
    is_degraded(&server, "the file is gone");
    assert_eq!(server.set(KEY, 3, 1), 503);
    assert_eq!(server.request_json(KEY, "GET", "/v1/floods/states", &Value::Null).0, 200, "reads go on");
    fs::rename(&away, &path).unwrap();
    is_written_again(&server);
    let log = server.kill();
    assert_eq!(write_errors(&log).len(), 1, "{log}");
    assert!(
        write_errors(&log)[0].contains("ERROR") && write_errors(&log)[0].contains("the file is gone"),
        "{log}"
    );
    assert_eq!(log.lines().filter(|line| line.contains("request failed")).count(), 1, "{log}");
    assert_eq!(changes(&path), 2);
}

#[test]
fn a_removed_file_is_recovered_from_its_server() {
    let file = file_with_areas();
    let path = file.path();
    let server = start(&path);
    assert_eq!(server.set(KEY, 1, 1), 200);
    fs::remove_file(&path).unwrap();
    is_degraded(&server, "the file is gone");
    let mut handles = fs::read_dir(format!("/proc/{}/fd", server.process.id())).unwrap().map(Result::unwrap);
    let is_deleted = |file: PathBuf| file.to_string_lossy().ends_with("siaga.db (deleted)");
    let handle = handles.find(|handle| fs::read_link(handle.path()).is_ok_and(is_deleted));
    fs::copy(handle.unwrap().path(), &path).unwrap();
    server.kill();
    assert_eq!(changes(&path), 1);
}

#[test]
fn no_change_is_confirmed_after_the_file_of_a_server_was_replaced() {
    let file = file_with_areas();
    let (path, copy) = (file.path(), with_suffix(&file.path(), ".copy"));
    let server = start(&path);
    assert_eq!(server.set(KEY, 1, 1), 200);
    printed(&siaga(&path, &["backup", copy.to_str().unwrap()]));
    fs::rename(&copy, &path).unwrap();
    assert_eq!(server.set(KEY, 2, 1), 503);
    is_degraded(&server, "another file is in its place");
    assert_eq!(server.set(KEY, 2, 1), 503, "until it is started again");
}

#[test]
fn changes_survive_the_loss_of_the_log() {
    let file = file_with_areas();
    let path = file.path();
    let server = start(&path);
    assert_eq!(server.set(KEY, 1, 1), 200);
    fs::remove_file(with_suffix(&path, "-wal")).unwrap();
    is_written_again(&server);
    server.kill();
    assert!(changes(&path) >= 2);
}

#[test]
fn startup_fails_without_a_file_that_existed_before() {
    let file = file_with_areas();
    let path = file.path();
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all");
    printed(&siaga(&path, &["export", all.to_str().unwrap()]));
    let server = start(&path);
    assert_eq!(server.set(KEY, 1, 2), 200);
    server.kill();
    let saved = fs::read(&path).unwrap();
    let expect = |state: &str, left: &str| {
        for arguments in [&[][..], &["migrate"], &["import", all.to_str().unwrap()], &["status"]] {
            let error = refusal(&siaga(&path, arguments));
            let expected = format!("siaga.db: it is {state}, but was not: {left} belong to it. ");
            assert!(error.contains(&expected), "{arguments:?}: {error}");
        }
    };
    fs::remove_file(&path).unwrap();
    expect("missing", "siaga.db-wal, siaga.db.lock");
    fs::write(&path, "").unwrap();
    expect("empty", "siaga.db-wal, siaga.db.lock");
    // Nothing is missing when the file is put back.
    fs::write(&path, saved).unwrap();
    assert_eq!(changes(&path), 1);

    fs::remove_file(&path).unwrap();
    let _ = fs::remove_file(with_suffix(&path, "-wal"));
    let photos = with_suffix(&path, "-images");
    fs::create_dir_all(&photos).unwrap();
    fs::write(photos.join("a.jpg"), "a photo").unwrap();
    expect("missing", "siaga.db.lock, siaga.db-images");
    fs::remove_file(with_suffix(&path, ".lock")).unwrap();
    expect("missing", "siaga.db-images");
    fs::rename(&photos, path.with_file_name("photos")).unwrap();
    printed(&siaga(&path, &["import", all.to_str().unwrap()]));
}

#[test]
fn only_the_owner_can_take_the_lock_of_a_file() {
    let file = file_with_areas();
    let path = file.path();
    let mode = || fs::metadata(with_suffix(&path, ".lock")).unwrap().permissions().mode() & 0o777;
    printed(&siaga(&path, &["migrate"]));
    assert_eq!(mode(), 0o600);
    fs::set_permissions(with_suffix(&path, ".lock"), fs::Permissions::from_mode(0o644)).unwrap();
    let server = start(&path);
    assert_eq!(mode(), 0o600);
    assert_eq!(server.set(KEY, 1, 1), 200);
}

#[test]
fn a_health_check_detects_another_writing_process_at_once() {
    let file = file_with_areas();
    let path = file.path();
    let server = start(&path);
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all");
    printed(&siaga(&path, &["export", all.to_str().unwrap()]));
    block_on(async {
        let mut other = connect(&path).await;
        other.execute("BEGIN IMMEDIATE").await.unwrap();
        let writes = ("degraded".to_owned(), json!("another process writes to the file"));
        let since = Instant::now();
        // A change waits for ten seconds.
        let soon = Duration::from_secs(5);
        eventually_blocking("the health", soon, || health(&server), |health| *health == writes);
        assert!(since.elapsed() < soon, "{:?}", since.elapsed());
        // An import compares before it waits for other writers.
        let said = printed(&siaga(&path, &["import", all.to_str().unwrap()]));
        assert!(said.contains("100 rows: 0 added, 0 replaced, 100 skipped"), "{said}");
        thread::scope(|scope| {
            let change = scope.spawn(|| server.set(KEY, 1, 1));
            while !change.is_finished() {
                let since = Instant::now();
                assert_eq!(health(&server), writes);
                assert!(since.elapsed() < soon, "{:?}", since.elapsed());
            }
            assert_eq!(change.join().unwrap(), 503);
        });
        other.execute("ROLLBACK").await.unwrap();
        other.close().await.unwrap();
    });
    is_written_again(&server);
    let log = server.kill();
    assert_eq!(write_errors(&log).len(), 1, "{log}");
}

#[test]
fn erased_data_soon_leaves_every_file_of_a_running_server() {
    const TEXT: &str = "the house of the Rahasia family";
    let file = file_with_areas();
    let path = file.path();
    let server = start(&path);
    let found = || {
        let has = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            bytes.windows(TEXT.len()).any(|part| part == TEXT.as_bytes())
        };
        has(&path) || has(&with_suffix(&path, "-wal"))
    };
    let created_at = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let post = json!({ "post_id": 1, "created_at": created_at, "partner_city": "bandung", "disaster_type": "flood",
                       "text": TEXT, "location": { "lat": 0.5, "lng": 0.5 } });
    assert_eq!(server.request_json(KEY, "POST", "/v1/feeds/partner", &post).0, 200);
    assert!(found());
    // A long reader, such as a backup by another program.
    block_on(async {
        let mut reader = connect(&path).await;
        reader.execute("BEGIN; SELECT count(*) FROM reports").await.unwrap();
        printed(&siaga(&path, &["reports", "erase", "1", "--reason", "its author asks"]));
        assert!(found());
        reader.execute("ROLLBACK").await.unwrap();
        reader.close().await.unwrap();
    });
    eventually_blocking("it is in no file", LONG, found, |found| !found);
    assert_eq!(server.set(KEY, 1, 1), 200);
}

#[test]
fn the_write_ahead_log_shrinks_after_a_long_reader() {
    let file = file_with_areas();
    let path = file.path();
    let server = start(&path);
    let length = || fs::metadata(with_suffix(&path, "-wal")).unwrap().len();
    let card = json!({ "username": "u", "network": "n", "language": "id", "network_data": { "a": "x".repeat(60_000) } });
    let write = || assert_eq!(server.request_json(KEY, "POST", "/v1/cards", &card).0, 200);
    block_on(async {
        let mut reader = connect(&path).await;
        reader.execute("BEGIN; SELECT count(*) FROM cards").await.unwrap();
        while length() < 8 * 1024 * 1024 {
            write();
        }
        reader.execute("ROLLBACK").await.unwrap();
        reader.close().await.unwrap();
    });
    let shrunk = || {
        write();
        length()
    };
    eventually_blocking("the log is cut", LONG, shrunk, |length| *length <= 5 * 1024 * 1024);
}
