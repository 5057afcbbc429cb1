//! The programs beside `siaga`.

use std::path::{Path, PathBuf};

pub(crate) fn take_over() -> PathBuf {
    beside("siaga-take-over", "take_over")
}

pub(crate) fn cap_check() -> PathBuf {
    beside("cap-check", "rules")
}

pub(crate) fn gauges() -> PathBuf {
    beside("siaga-gauges", "gauges")
}

/// Returns the path of a program that Cargo builds with the tests of its own crate, such as `target`.
fn beside(name: &str, target: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_siaga")).with_file_name(name);
    assert!(program.exists(), "{name} is not built: run this with --test {target}");
    program
}
