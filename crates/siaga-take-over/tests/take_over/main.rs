//! Tests taking over the data of a running CogniCity.

#[path = "../../../../tests/common/postgres.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod database;
#[path = "../../../../tests/common/outcome.rs"]
mod outcome;

mod reads;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use serde_json::json;
use siaga::folder::{Dataset, Folder, FolderRules};
use siaga::model::bodies::CardRules;
use siaga::model::{Disasters, ManualClock, SystemClock, Timestamp};
use siaga::stores::memory::MemoryStore;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{FloodQuery, OpenStore, Replace, Store};
use siaga_conformance::block_on;
use siaga_conformance::fixture::{self, now};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tempfile::TempDir;

use self::database::Database;
use self::outcome::{printed, refusal};
use self::reads::{assert_agrees, everywhere, reports};

/// The configuration that the data needs: longer card identifiers, and a further type of disaster.
const KEYS: [(&str, &str); 2] =
    [("SIAGA_CARDS__MAX_ID_LENGTH", "36"), ("SIAGA_DISASTERS__ALSO", r#"["typhoon"]"#)];

/// Creates a database with the tables and rows of a CogniCity.
async fn cognicity() -> Database {
    let database = Database::empty().await;
    run(&database, include_str!("../../../../tests/common/cognicity.sql")).await;
    database
}

async fn run(database: &Database, sql: &str) {
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    connection.close().await.unwrap();
}

fn take_over(folder: &Path, keys: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_siaga-take-over"));
    program.args(arguments).current_dir(folder).env_clear().envs(keys.iter().copied());
    program.output().unwrap()
}

fn rules() -> FolderRules {
    let also = vec!["typhoon".parse().unwrap()];
    let mut cards = CardRules::default();
    cards.max_id_length = serde_json::from_value(json!(36)).unwrap();
    FolderRules::new(&Disasters { also }, &cards)
}

/// Opens a memory store with the copy as its data set.
fn in_memory(copy: &Path) -> Arc<dyn Store> {
    let dataset = Dataset::load(copy.to_str().unwrap(), &rules(), Timestamp::LAST).unwrap();
    Arc::new(MemoryStore::new(dataset, Arc::new(ManualClock::new(now()))))
}

#[test]
fn a_cognicity_is_taken_over_and_every_read_agrees_with_its_rows() {
    block_on(async {
        let (source, target) = (cognicity().await, Database::empty().await);
        let folder = tempfile::tempdir().unwrap();
        let said = printed(&take_over(folder.path(), &KEYS, &["--from", &source.url(), "copy"]));
        for line in [
            "\nflood_states.csv: 10 rows",
            "\nnot in the database: infrastructure.pumps",
            "\nTo import the copy: siaga import copy",
        ] {
            assert!(said.contains(line), "{line}\n\n{said}");
        }
        for (table, what, first) in [
            ("instance_regions", "1 row, code is that of a row before", "pkey 4"),
            ("local_areas", "1 row, geometry must be a Polygon or", "pkey 4"),
            ("rem_status_log", "2 rows, local_area is none of the areas copied", "id 9"),
            ("rem_status_log", "1 row, state must be one of [0, 1, 2, 3, 4] or", "id 11"),
            ("rem_status_log", "username of 1 row, username must be a text of 1", "id 4"),
            ("rem_status_log", "1 row, changed lies in the future", "id 12"),
            ("rem_status_log", "1 row, changed must be a time of the years 1 to", "id 13"),
            ("rem_status", "1 row, whose state differs from the end of the", "local_area 2"),
            ("rem_status", "1 row, last_updated lies in the future", "local_area 5"),
            ("rem_status", "1 row, local_area is none of the areas copied", "local_area 99"),
            ("rem_status", "1 row, which is missing though the log says that", "local_area 3"),
            ("all_reports", "partner_icon of 1 row, partner_icon must be an", "pkey 3"),
            ("all_reports", "image_url of 1 row, image_url must be an http or", "pkey 4"),
            ("all_reports", "report_data of 1 row, report_data must be a JSON", "pkey 4"),
            ("all_reports", "1 row, status is not confirmed", "pkey 5"),
            ("all_reports", "1 row, created_at is empty", "pkey 6"),
            ("all_reports", "1 row, the_geom must be a point in degrees of", "pkey 7"),
            ("all_reports", "1 row, disaster_type must be one of [flood", "pkey 9"),
            ("all_reports", "1 row, the_geom is empty", "pkey 10"),
            ("cards", "2 rows, the card was used, and its report is none", "pkey 3"),
            ("cards", "network_data of 1 row, network_data must be a", "pkey 5"),
            ("floodgauge.reports", "1 row, the_geom is missing", "gaugeid TMA3"),
            ("floodgauge.reports", "1 row, warninglevel must be one of [1, 2, 3, 4]", "pkey 4"),
            ("floodgauge.reports", "1 row, depth is empty", "pkey 5"),
            ("floodgauge.reports", "1 row, gaugeid is none of the gauges copied", "pkey 7"),
        ] {
            let (part, end) = (format!("{table}: {what}"), format!(" (first: {first})"));
            let is_there = said.lines().any(|line| line.contains(&part) && line.ends_with(&end));
            assert!(is_there, "{part} … {end}\n\n{said}");
        }

        let copy = folder.path().join("copy");
        assert_agrees(&*in_memory(&copy)).await;
        let mut settings = target.settings();
        (settings.rules, settings.clock) = (rules(), Arc::new(SystemClock));
        let folder = Folder::open(&copy).unwrap().with_rules(rules());
        let import = OpenPostgres.upkeep().unwrap().import(&settings, &folder, Replace::Nothing).await;
        import.unwrap();
        assert_agrees(&*OpenPostgres.open(&target.settings()).await.unwrap().store).await;
    });
}

#[test]
fn a_store_that_keeps_no_data_can_serve_the_copy_and_the_keys_to_set_are_named() {
    let source = block_on(cognicity());
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["copy", "--from", &source.url()];
    let said = printed(&take_over(folder.path(), &[], &arguments));
    for part in [
        "; siaga.cards.max_id_length allows up to 36 (first: pkey 1)\n",
        "not \"typhoon\"; siaga.disasters.also adds types (first: pkey 4)\n",
    ] {
        assert!(said.contains(part), "{part}\n\n{said}");
    }
    let copy = folder.path().join("copy");
    let dataset = Dataset::load(copy.to_str().unwrap(), &FolderRules::default(), Timestamp::LAST).unwrap();
    assert_eq!((dataset.places.areas().len(), dataset.reports.len(), dataset.cards.len()), (4, 4, 0));
    let again = refusal(&take_over(folder.path(), &[], &arguments));
    assert!(again.contains("areas.geojson is there already"), "{again}");
}

#[test]
fn a_user_who_may_only_read_is_enough_and_columns_and_tables_may_be_missing() {
    const OLDER: &str = "
        DROP SCHEMA floodgauge, infrastructure CASCADE;
        DROP TABLE cognicity.partners, cognicity.rem_status, grasp.reports;
        ALTER TABLE cognicity.all_reports DROP is_training, DROP partner_code, DROP title;
        ALTER TABLE cognicity.local_areas DROP attributes;
        ALTER TABLE grasp.cards DROP network_data;";
    let source = block_on(cognicity());
    let reader = format!("reader_{}", std::process::id());
    let grants = format!(
        "{OLDER} CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA cognicity, grasp TO {reader};
         GRANT SELECT ON ALL TABLES IN SCHEMA cognicity, grasp TO {reader};"
    );
    block_on(run(&source, &grants));
    let folder = tempfile::tempdir().unwrap();
    let url = source.url().replace("postgres://siaga@", &format!("postgres://{reader}@"));
    let said = printed(&take_over(folder.path(), &KEYS, &["--from", &url, "copy"]));
    for table in ["infrastructure.pumps", "cognicity.rem_status", "cognicity.partners", "floodgauge.reports"]
    {
        assert_eq!(said.matches(&format!("not in the database: {table}\n")).count(), 1, "{said}");
    }
    let store = in_memory(&folder.path().join("copy"));
    block_on(async {
        assert_eq!(reports(&*store, everywhere()).await.len(), 5);
        let states = store.flood_states(&FloodQuery::default()).await.unwrap().value;
        let states: Vec<_> = states.iter().map(|area| (area.area_id.number(), area.state.code())).collect();
        assert_eq!(states, [(1, 3), (3, 2), (5, 2)], "what the log says");
    });
    block_on(run(&source, &format!("DROP OWNED BY {reader}; DROP ROLE {reader}")));
}

/// Copies a database with an area that crosses itself, with these further arguments.
fn copy_of_bow_tie(further: &[&str]) -> (TempDir, Output) {
    let source = block_on(cognicity());
    let bow_tie = "UPDATE cognicity.local_areas SET the_geom =
        'SRID=4326;POLYGON((106.8 -6.2, 106.81 -6.19, 106.81 -6.2, 106.8 -6.19, 106.8 -6.2))' WHERE pkey = 1";
    block_on(run(&source, bow_tie));
    let folder = tempfile::tempdir().unwrap();
    let url = source.url();
    let arguments = [&["--from", &url, "copy"], further].concat();
    let output = take_over(folder.path(), &KEYS, &arguments);
    (folder, output)
}

#[test]
fn a_malformed_outline_is_repaired_where_that_is_asked_for_and_else_named_when_the_copy_is_read() {
    let (folder, output) = copy_of_bow_tie(&[]);
    printed(&output);
    let copy = folder.path().join("copy");
    let error = Dataset::load(copy.to_str().unwrap(), &rules(), now()).unwrap_err().to_string();
    assert!(error.contains("areas.geojson, line 2: feature 1 (area_id 1): geometry crosses"), "{error}");

    let (folder, output) = copy_of_bow_tie(&["--repair"]);
    let said = printed(&output);
    let line =
        "repaired in cognicity.local_areas: the outline of 1 row, which was not valid (first: pkey 1)\n";
    assert!(said.contains(line), "{said}");
    let store = in_memory(&folder.path().join("copy"));
    assert_eq!(block_on(store.floods(&FloodQuery::default())).unwrap().value.features().count(), 4);
}

#[test]
fn what_cannot_be_copied_is_one_line_without_the_password_and_leaves_no_files() {
    let target = block_on(Database::empty());
    let folder = tempfile::tempdir().unwrap();
    let server = target.url();
    let with_password = server.replace("siaga@", "siaga:hush@");
    for (url, expected) in [
        (
            "mysql://u:hush@h/d",
            "--from must be the address of a database, postgres://user:password@host/name",
        ),
        ("postgres://u:hush@h:port/d", "--from must be the address of a database"),
        ("postgres://u:hush@127.0.0.1:1/d", "cannot connect to 127.0.0.1:1/d: "),
        (&with_password, " is no CogniCity database: it has none of the tables cognicity.local_areas, "),
    ] {
        let output = take_over(folder.path(), &[], &["--from", url, "copy"]);
        let error = refusal(&output);
        assert!(error.contains(expected) && !error.contains("hush"), "{url}: {error}");
    }
    let swapped = take_over(folder.path(), &[], &["--from", "copy", &with_password]);
    let error = refusal(&swapped);
    assert!(error.contains("must be the address") && !error.contains("hush"), "{error}");
    // A server that never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u:hush@{}/d", silent.local_addr().unwrap());
    let timeout = [("SIAGA_LIMITS__TIMEOUT", "1s")];
    let error = refusal(&take_over(folder.path(), &timeout, &["--from", &url, "copy"]));
    assert!(error.contains("no response within 1s") && !error.contains("hush"), "{error}");
    let broken = block_on(cognicity());
    block_on(run(&broken, "ALTER TABLE floodgauge.reports RENAME gaugeid TO gauge"));
    let output = take_over(folder.path(), &KEYS, &["--from", &broken.url(), "copy"]);
    let error = refusal(&output);
    assert!(
        error.starts_with("siaga-take-over: floodgauge.reports: the database responded: column "),
        "{error}"
    );
    let left = std::fs::read_dir(folder.path().join("copy")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "files are left");
}

#[test]
fn wrong_usage_does_not_print_the_password() {
    let (url, folder) = ("postgres://siaga:hush@127.0.0.1:1/d", tempfile::tempdir().unwrap());
    for arguments in [&["--from", url][..], &["--from", url, "--from", url, "copy"]] {
        let output = take_over(folder.path(), &[], arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!String::from_utf8(output.stderr).unwrap().contains("hush"), "{arguments:?}");
    }
}
