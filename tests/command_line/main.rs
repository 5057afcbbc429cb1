//! The program as an operator runs it.

mod configuration;
mod ends;
mod refusals;
mod tokens;

use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the program in an empty folder with these variables and nothing else of the service's.
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

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line on standard error of a run that ended with 1.
fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}
