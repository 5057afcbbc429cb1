//! A server on a store, of which one write can be made to fail.

use std::any::Any;
use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use url::Url;

use super::Operation;
use crate::eventually::{LONG, eventually_blocking};
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::postgres::Database;
use crate::proxy::{CutPoint, Proxy};
use crate::running::{KEY, Running};
use crate::service_config::{ServiceConfig, add_areas, file_with_areas};
use crate::store_file::memory_folder;

/// The library that makes a call fail, compiled once for all tests.
fn shim() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shim.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slow/failing_writes/shim.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", source, "-o"]).arg(&path);
        assert!(compiler.status().unwrap().success());
        (folder, path)
    });
    path
}

enum Faults {
    /// The file that the shim shares: how many calls there were, which one fails, and in which way.
    Files(File),
    Link(Proxy),
}

pub(super) struct Site {
    config: ServiceConfig,
    server: Option<Running>,
    faults: Faults,
    is_armed: Cell<bool>,
    /// Photos and the archive.
    pub(super) folder: TempDir,
    /// Removed with the site.
    _store: Box<dyn Any>,
}

impl Site {
    /// A server on the store in one file, with the areas 1 to 100. The calls that change files below `failing` can fail: all of
    /// the store, or the archive.
    pub(super) fn on_a_file<O: Operation>(_: &O) -> Self {
        let (file, folder) = (file_with_areas(), memory_folder());
        let control = folder.path().join("control");
        fs::write(&control, [0; 12]).unwrap();
        let path = file.path();
        let failing =
            if O::ONLY_ARCHIVE { folder.path().join("archive") } else { path.parent().unwrap().into() };
        let config = ServiceConfig::in_file(&path)
            .with("LD_PRELOAD", shim().to_str().unwrap())
            .with("FAULT_CONTROL", control.to_str().unwrap())
            .with("FAULT_FOLDER", failing.to_str().unwrap());
        let control = File::options().read(true).write(true).open(control).unwrap();
        Self::new(O::ADAPT(config, folder.path()), Faults::Files(control), folder, Box::new(file))
    }

    /// A server on a database, with the same areas.
    pub(super) fn on_a_database<O: Operation>(_: &O) -> Self {
        let (database, folder) = (block_on(Database::empty()), memory_folder());
        add_areas(&database.url());
        let proxy = Proxy::before(&database.url());
        let photos = Url::from_directory_path(folder.path().join("photos")).unwrap();
        let config = ServiceConfig::in_database(&proxy.through(&database.url()))
            .with("SIAGA_IMAGES__URL", photos.as_str());
        Self::new(O::ADAPT(config, folder.path()), Faults::Link(proxy), folder, Box::new(database))
    }

    fn new(config: ServiceConfig, faults: Faults, folder: TempDir, store: Box<dyn Any>) -> Self {
        // Stale responses would hide what is stored.
        let config = config.with("SIAGA_LIMITS__STALE", "0").with("SIAGA_LIMITS__TIMEOUT", "2s");
        Self {
            server: Some(config.start()),
            config,
            faults,
            is_armed: Cell::new(false),
            folder,
            _store: store,
        }
    }

    /// Makes the `number`th write from now on fail.
    pub(super) fn arm(&self, number: usize, way: usize) {
        match &self.faults {
            Faults::Files(control) => {
                let words = [0, number, way].map(|word| u32::try_from(word).unwrap().to_ne_bytes());
                control.write_all_at(words.as_flattened(), 0).unwrap();
            }
            Faults::Link(proxy) => {
                proxy.cut_at(Some(CutPoint { to_target: way < 2, number, arrives: way % 2 == 1 }));
            }
        }
        self.is_armed.set(true);
    }

    /// Whether a write may fail now.
    pub(super) fn is_armed(&self) -> bool {
        self.is_armed.get()
    }

    /// Whether the write has failed.
    pub(super) fn has_failed(&self) -> bool {
        let is_past = match &self.faults {
            Faults::Files(control) => {
                let mut words = [[0; 4]; 2];
                control.read_exact_at(words.as_flattened_mut(), 0).unwrap();
                let [calls, failing] = words.map(u32::from_ne_bytes);
                calls >= failing
            }
            Faults::Link(proxy) => !proxy.has_cut_point(),
        };
        self.is_armed.get() && is_past
    }

    /// Lets all writes succeed again; returns whether one has failed.
    pub(super) fn disarm(&self) -> bool {
        let has_failed = self.has_failed();
        self.is_armed.set(false);
        match &self.faults {
            Faults::Files(control) => control.write_all_at(&[0; 12], 0).unwrap(),
            Faults::Link(proxy) => proxy.cut_at(None),
        }
        has_failed
    }

    /// Whether a killed server can be started again at once as the one that it was.
    pub(super) fn is_on_a_file(&self) -> bool {
        matches!(self.faults, Faults::Files(..))
    }

    pub(super) fn server(&self) -> &Running {
        self.server.as_ref().unwrap()
    }

    /// Kills the server and starts it again.
    pub(super) fn restart(&mut self) {
        let server = self.server.take().unwrap();
        assert!(!server.errors().contains("panicked"), "{}", server.errors());
        drop(server);
        self.server = Some(self.config.start());
    }

    /// Returns the status of a request.
    pub(super) fn status(&self, method: &str, target: &str, body: &Value) -> u16 {
        let (status, body) = self.server().request_json(KEY, method, target, body);
        assert!([200, 403, 404, 409, 503].contains(&status), "{method} {target}: {status} {body}");
        status
    }

    /// Whether something is found, once the link is back.
    pub(super) fn has(&self, target: &str) -> bool {
        let status = || self.status("GET", target, &Value::Null);
        eventually_blocking(target, LONG, status, |status| [200, 404].contains(status)) == 200
    }

    /// Returns the result of a read, which may have to wait for the link.
    pub(super) fn get(&self, target: &str) -> Value {
        let found = || self.server().request_json(KEY, "GET", target, &Value::Null);
        eventually_blocking(target, LONG, found, |(status, _)| *status == 200).1["result"].take()
    }

    /// The properties of all reports of the last day.
    pub(super) fn reports(&self) -> Vec<Value> {
        let mut all = self.get("/v1/reports?geoformat=geojson&timeperiod=86400");
        all["features"].as_array_mut().unwrap().iter_mut().map(|report| report["properties"].take()).collect()
    }

    /// Runs a command of the program: its output, or the line of its error.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output: Output = self.config.siaga(arguments);
        if output.status.success() { Ok(printed(&output)) } else { Err(refusal(&output)) }
    }
}
