//! A running service told what to do by signals, and what is seen of it.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

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
    pub(crate) fn until<T>(&self, what: &str, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        let since = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            assert!(since.elapsed() < Duration::from_secs(20), "{what}: {}", self.errors());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it has ended by itself; answers the code it ended with, and after how long.
    pub(crate) fn ended(&mut self) -> (Option<i32>, Duration) {
        let since = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return (status.code(), since.elapsed());
            }
            assert!(since.elapsed() < Duration::from_secs(30), "goes on: {}", self.errors());
            thread::sleep(Duration::from_millis(5));
        }
    }
}
