//! A private `PostgreSQL` cluster that a test may stop and crash.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

/// A cluster made by `tests/cluster`; removed on drop.
#[derive(Debug)]
pub(crate) struct Cluster {
    path: PathBuf,
    _folder: TempDir,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self::create(|path| run(&["new", path]))
    }

    /// A streaming standby of a running cluster, started.
    pub(crate) fn standby_of(primary: &Self) -> Self {
        Self::create(|path| run(&["standby", path, text(&primary.path)]))
    }

    fn create(make: impl FnOnce(&str) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // PostgreSQL may run as another user.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("cluster");
        make(text(&path));
        let cluster = Self { path, _folder: folder };
        cluster.start();
        cluster
    }

    /// Starts it on its previous port.
    pub(crate) fn start(&self) {
        run(&["start", text(&self.path)]);
    }

    /// Stops it: `fast`, or `immediate` as a crash would.
    pub(crate) fn stop(&self, mode: &str) {
        run(&["stop", text(&self.path), mode]);
    }

    pub(crate) fn promote(&self) {
        run(&["promote", text(&self.path)]);
    }

    /// The folder of the table files, without the write-ahead log.
    pub(crate) fn tables(&self) -> PathBuf {
        self.path.join("data/base")
    }

    pub(crate) fn url(&self) -> String {
        fs::read_to_string(self.path.join("address")).unwrap().trim().to_owned()
    }

    pub(crate) async fn connected(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }
}

/// A database URL with the hosts of all clusters that selects the primary.
pub(crate) fn url_of(clusters: &[&Cluster]) -> String {
    let host = |cluster: &&Cluster| cluster.url().split(['@', '/']).nth(3).unwrap().to_owned();
    let hosts: Vec<_> = clusters.iter().map(host).collect();
    format!("postgres://siaga@{}/postgres?target_session_attrs=read-write", hosts.join(","))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        run(&["remove", text(&self.path)]);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run(arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster");
    let output = Command::new(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
