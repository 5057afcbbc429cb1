//! The program as an operator runs it.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/outcome.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod outcome;

#[path = "../common/extract.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod extract;

mod check;
mod configuration;
mod ends;
mod refusals;
mod render;
mod setup;
mod tokens;

use std::process::{Command, Output};

use siaga::folder::FolderWriter;
use tempfile::TempDir;

use self::outcome::refusal;

/// Runs the program in an empty folder with only these variables.
fn siaga(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    siaga_in(&tempfile::tempdir().unwrap(), arguments, variables)
}

fn siaga_in(folder: &TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_siaga"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// An empty folder with a configuration file.
fn configured(file: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Rocket.toml"), file).unwrap();
    folder
}

/// A folder with the fixture in `data`.
fn with_data() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixture::dataset().save(&FolderWriter::create(folder.path().join("data")).unwrap()).unwrap();
    folder
}

/// The lines on standard error of a run that ended with 1.
fn faults(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()
}

/// The configuration that `check` prints.
fn effective(folder: &TempDir, variables: &[(&str, &str)]) -> toml::Value {
    let config: toml::Table = out(&siaga_in(folder, &["check"], variables)).parse().unwrap();
    config["default"]["siaga"].clone()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
