//! Output of runs of the program.

use std::process::Output;

/// Asserts success and an empty standard error; returns standard output.
pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Asserts exit code 1; returns the single line on standard error.
pub(crate) fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}
