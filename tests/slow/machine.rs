//! A machine to install packages on: `tests/machine` starts it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A copy of this machine with a systemd of its own, which ends with this value.
pub(crate) struct Machine {
    folder: TempDir,
}

impl Machine {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let started = script().arg("start").arg(folder.path()).status().unwrap();
        assert!(started.success(), "tests/machine could not start a machine");
        Self { folder }
    }

    /// Runs a command as root.
    pub(crate) fn run(&self, command: &[&str]) -> Output {
        self.command(command).output().unwrap()
    }

    /// What a line for the shell prints, of which every part succeeds.
    pub(crate) fn printed(&self, line: &str) -> String {
        let output = self.run(&["sh", "-euc", line]);
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes the content of a file of this machine into one of that machine.
    pub(crate) fn put(&self, from: &Path, to: &str) {
        let mut tee = self.command(&["tee", to]);
        let written = tee.stdin(File::open(from).unwrap()).stdout(Stdio::null()).status().unwrap();
        assert!(written.success(), "{to}");
    }

    fn command(&self, command: &[&str]) -> Command {
        let mut run = script();
        run.arg("run").arg(self.folder.path()).args(command).stdin(Stdio::null());
        run
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let stopped = script().arg("stop").arg(self.folder.path()).status();
        assert!(stopped.is_ok_and(|status| status.success()), "tests/machine could not stop the machine");
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine"))
}
