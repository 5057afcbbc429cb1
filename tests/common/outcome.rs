//! What a run of the program printed.

use std::process::Output;

/// Returns what a run printed that succeeded and had nothing on standard error.
pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the one line on standard error of a run that ended with 1.
pub(crate) fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}
