//! A running service told what to do by signals, and what is seen of it.

use std::fmt::Debug;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::eventually::{LONG, eventually_blocking};
use crate::running::{PROGRAM, Running};

impl Running {
    /// Starts the service in a shell that has run some commands, such as `ulimit`.
    pub(crate) fn start_after(commands: &str, variables: &[(&str, &str)], until: &str) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{commands}; exec {PROGRAM}")]);
        Self::spawn(shell, variables, until, "")
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.process.id().to_string()]).status();
        assert!(sent.unwrap().success(), "SIG{name}");
    }

    /// What it has printed on standard error until now.
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("errors")).unwrap()
    }

    /// The folder it runs in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until something is so.
    pub(crate) fn until<T: Debug>(&self, what: &str, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        // If nothing is found, the failure shows the log of the service.
        let look = || found(self).ok_or_else(|| self.errors());
        eventually_blocking(what, LONG, look, Result::is_ok).unwrap()
    }

    /// Waits until it has ended by itself; answers the code it ended with, and after how long.
    pub(crate) fn ended(&mut self) -> (Option<i32>, Duration) {
        let since = Instant::now();
        let look = || self.process.try_wait().unwrap().ok_or_else(|| self.errors());
        let status = eventually_blocking("it ends", LONG, look, Result::is_ok).unwrap();
        (status.code(), since.elapsed())
    }
}
