//! The log of flood states as an operator reads it, and how a change is undone: with the program, beside a server.

use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::eventually::eventually_blocking;
use crate::file_commands::{self, ask};
use crate::file_crashes::start;
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::postgres::Database;
use crate::store_file::StoreFile;

/// Runs the program on a store that holds the fixture.
type Run<'r> = &'r dyn Fn(&[&str]) -> Output;

/// Runs a test on each store that keeps data.
fn on_each_store(test: impl Fn(Run<'_>)) {
    let file = block_on(StoreFile::with_fixture());
    test(&|arguments| file_commands::siaga(&file.path(), arguments));
    let database = block_on(Database::with_fixture());
    let elsewhere = tempfile::tempdir().unwrap();
    test(&|arguments| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_siaga"));
        program.args(arguments).current_dir(&elsewhere).env_clear();
        program.env("SIAGA_STORE", "postgres").env("DATABASE_URL", database.url()).output().unwrap()
    });
}

/// What `floods log` printed, without times that depend on the clock.
fn entries(said: &str) -> Vec<String> {
    let squeezed = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    said.lines().skip(1).map(squeezed).collect()
}

#[test]
fn the_log_of_an_area_is_printed_newest_first() {
    on_each_store(|siaga| {
        let said = printed(&siaga(&["floods", "log", "5"]));
        assert_eq!(
            said,
            "changed at                state  subject  username\n\
             2016-12-19T13:41:35.000Z  2      import   bpbd\n\
             2016-12-14T09:00:35.000Z  4      import   bpbd\n\
             2016-12-14T06:10:35.000Z  1      import   bpbd\n"
        );
        let before = printed(&siaga(&["floods", "log", "5", "--before", "2016-12-14T09:00:35Z"]));
        assert_eq!(entries(&before), ["1 import bpbd"]);
        assert_eq!(printed(&siaga(&["floods", "log", "2"])).lines().count(), 1);
        assert_eq!(refusal(&siaga(&["floods", "log", "3"])), "siaga: local area 3 does not exist");
        let wrong = siaga(&["floods", "log", "x"]);
        assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    });
}

#[test]
fn an_undo_sets_the_state_before_as_a_change_of_its_own() {
    on_each_store(|siaga| {
        let said = printed(&siaga(&["floods", "undo", "5", "--by", "Ibu Sri"]));
        assert_eq!(
            said,
            "The change of area 5 at 2016-12-19T13:41:35.000Z by import (bpbd) is undone: from state 2 back to 4.\n"
        );
        let log = |area| entries(&printed(&siaga(&["floods", "log", area])));
        let undone = "4 siaga floods undo Ibu Sri";
        assert_eq!(log("5"), [undone, "2 import bpbd", "4 import bpbd", "1 import bpbd"]);
        // Undone again, it is as it was; and a first change leaves no state.
        printed(&siaga(&["floods", "undo", "5"]));
        assert_eq!(log("5")[..2], ["2 siaga floods undo -", undone]);
        let first = printed(&siaga(&["floods", "undo", "30"]));
        assert!(first.ends_with("is undone: from state 3 back to none.\n"), "{first}");
    });
}

#[test]
fn an_undo_of_an_older_change_is_refused_and_changes_nothing() {
    on_each_store(|siaga| {
        let log = || printed(&siaga(&["floods", "log", "5"]));
        let before = log();
        for time in ["2016-12-14T09:00:35.000Z", "2030-01-01T00:00:00+07:00"] {
            let error = refusal(&siaga(&["floods", "undo", "5", time]));
            assert!(error.starts_with("siaga: the newest change of area 5 is not that at 20"), "{error}");
            assert!(
                error.ends_with(
                    ", but that at 2016-12-19T13:41:35.000Z by import (bpbd): nothing was undone; see siaga floods log 5"
                ),
                "{error}"
            );
        }
        assert_eq!(log(), before);
        let error = refusal(&siaga(&["floods", "undo", "2"]));
        assert_eq!(error, "siaga: area 2 never changed, so there is nothing to undo");
        assert_eq!(refusal(&siaga(&["floods", "undo", "3"])), "siaga: local area 3 does not exist");
        printed(&siaga(&["floods", "undo", "5", "2016-12-19T13:41:35Z"]));
        assert_ne!(log(), before);
    });
}

#[test]
fn a_server_shows_within_a_second_what_was_undone() {
    let file = block_on(StoreFile::with_fixture());
    let server = start(&file.path());
    printed(&file_commands::siaga(&file.path(), &["floods", "undo", "5"]));
    let state = || {
        let (_, states) = ask(&server, "", "GET", "/v1/floods/states", &Value::Null);
        states["result"][0].clone()
    };
    let is_undone = |state: &Value| (&state["area_id"], &state["state"]) == (&json!("5"), &json!(4));
    eventually_blocking("the state before", Duration::from_secs(1), state, is_undone);
}

#[test]
fn a_store_that_keeps_nothing_has_no_log_to_undo() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_siaga"));
    let output = program.args(["floods", "undo", "5"]).current_dir(&elsewhere).env_clear().output().unwrap();
    let error = refusal(&output);
    assert!(
        error.starts_with("siaga: siaga.store is \"memory\", which keeps nothing beyond a run"),
        "{error}"
    );
}

#[test]
fn areas_are_set_as_one_batch_and_taken_back() {
    on_each_store(|siaga| {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("areas.csv");
        std::fs::write(&list, "area_id,name\n1,RW 01\n\n2\n").unwrap();
        let list = list.to_str().unwrap();
        let set = ["floods", "set", "10", list, "--state", "4", "--note", "by telephone", "--by", "Sri"];
        let said = printed(&siaga(&set));
        assert!(said.starts_with("Batch 1: 3 areas have state 4 since "), "{said}");
        let logged = entries(&printed(&siaga(&["floods", "log"])));
        let expected = [1, 2, 10].map(|area| format!("{area} 4 siaga floods set Sri 1 by telephone"));
        assert_eq!(logged[..3], expected);
        assert_eq!(
            refusal(&siaga(&["floods", "set", "1", "98", "99", "--state", "none"])),
            "siaga: no such local areas: 98, 99; nothing was changed"
        );
        printed(&siaga(&["floods", "set", "2", "--state", "1"]));
        let undone = printed(&siaga(&["floods", "undo", "--batch", "1"]));
        assert_eq!(
            undone,
            "Batch 1 is undone by batch 3: 2 areas have the states before.\n\
             These areas have changed since, and were left alone: 2.\n"
        );
        assert_eq!(
            refusal(&siaga(&["floods", "undo", "--batch", "9"])),
            "siaga: there is no such batch; see siaga floods log"
        );
        for wrong in [
            &["floods", "set", "1", "--state", "5"][..],
            &["floods", "set", "--state", "1"],
            &["floods", "undo"],
        ] {
            assert_eq!(siaga(wrong).status.code(), Some(2), "{wrong:?}");
        }
        assert!(
            refusal(&siaga(&["floods", "set", "nowhere.csv", "--state", "1"]))
                .contains("neither an area nor")
        );
    });
}
