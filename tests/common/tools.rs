//! Tools of clients, installed by `tests/tools`.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

fn tools() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
        let output = Command::new(script).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "tests/tools could not install what is missing");
        String::from_utf8(output.stdout).unwrap().trim_end().into()
    })
}

/// Python with its packages.
pub(crate) fn python() -> Command {
    program(tools().join("python/bin/python"))
}

/// Node, with its packages linked into a folder.
pub(crate) fn node(folder: &Path) -> Command {
    let packages = folder.join("node_modules");
    if !packages.exists() {
        symlink(tools().join("node_modules"), packages).unwrap();
    }
    let mut node = program("node");
    node.current_dir(folder);
    node
}

/// Creates a folder with copies of files of the repository.
pub(crate) fn folder_with(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    tools();
    let mut program = Command::new(name);
    program.env("no_proxy", "127.0.0.1");
    program
}

/// Asserts that a command succeeds; returns its output.
pub(crate) fn printed(name: &str, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}\n{error}\n{printed:.2000}");
    printed.into_owned()
}
