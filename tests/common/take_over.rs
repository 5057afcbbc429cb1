//! The program `siaga-take-over`.

use std::path::{Path, PathBuf};

/// Returns its path. Cargo builds it with the tests of its own crate.
pub(crate) fn take_over() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_siaga")).with_file_name("siaga-take-over");
    assert!(program.exists(), "siaga-take-over is not built: run this with --test take_over");
    program
}
