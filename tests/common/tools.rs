//! The tools of clients: `tests/tools` installs what is missing.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// The folder of the tools.
fn tools() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
        let output = Command::new(script).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "tests/tools could not install what is missing");
        String::from_utf8(output.stdout).unwrap().trim_end().into()
    })
}

/// Python with the packages for it.
pub(crate) fn python() -> Command {
    program(tools().join("python/bin/python"))
}

/// Node, which finds the packages for it from a folder.
pub(crate) fn node(folder: &Path) -> Command {
    let packages = folder.join("node_modules");
    if !packages.exists() {
        symlink(tools().join("node_modules"), packages).unwrap();
    }
    let mut node = program("node");
    node.current_dir(folder);
    node
}

/// Makes a folder with these files of the repository.
pub(crate) fn folder_with(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

/// A program that is in the path once the tools are installed.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    tools();
    let mut program = Command::new(name);
    program.env("no_proxy", "127.0.0.1");
    program
}

/// What a command prints; that it succeeds.
pub(crate) fn printed(what: &str, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{what}\n{error}\n{printed:.2000}");
    printed.into_owned()
}
