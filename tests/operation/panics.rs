//! Panics.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figment::Figment;
use rocket::local::blocking::Client;
use siaga::Siaga;
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::internals::{Log, LogSettings, Shape};
use siaga::model::{Layer, LayerKind};

use crate::fixture::block_on;

/// A format that panics when a request is read and when a response is written.
#[derive(Debug, Default)]
struct Broken {
    /// Whether the service has started; startup queries every kind.
    serving: AtomicBool,
}

impl Format for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/plain"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        let panics = self.serving.load(Ordering::Relaxed) && kind == LayerKind::Gauges;
        assert!(!panics, "a bug in reading\nof two lines");
        kind == LayerKind::Floods
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, _: &Layer, _: &EncodeContext, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        tracing::warn!("a warning in writing");
        panic!("a bug in writing")
    }
}

/// Triggers both panics in a child process, because the panic hook is global; prints the request ids.
fn panic_in_child() {
    Log::install(LogSettings { format: Shape::Json, ..LogSettings::default() }).unwrap();
    let figment = Figment::from(rocket::Config::debug_default())
        .merge(("siaga.formats.enabled", ["topojson", "broken"]))
        .merge(("siaga.images.url", "memory:///"));
    let broken = Arc::new(Broken::default());
    let building = Siaga::builder().figment(figment).format(Arc::clone(&broken) as Arc<dyn Format>).build();
    let client = Client::untracked(block_on(building).unwrap().rocket).unwrap();
    broken.serving.store(true, Ordering::Relaxed);
    for target in ["/v1/floodgauges?geoformat=broken", "/v1/floods?geoformat=broken"] {
        let response = client.get(target).dispatch();
        assert_eq!(response.status().code, 500);
        let id = response.headers().get_one("X-Request-Id").unwrap().to_owned();
        let body = response.into_string().unwrap();
        assert!(!body.contains("bug"), "{body}");
        println!("id={id}");
    }
}

#[test]
fn a_panic_and_a_warning_are_each_logged_in_one_line_with_the_id_of_their_request() {
    const CHILD: &str = "SIAGA_TESTS_PANIC";
    if env::var_os(CHILD).is_some() {
        return panic_in_child();
    }
    let test = "panics::a_panic_and_a_warning_are_each_logged_in_one_line_with_the_id_of_their_request";
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child.args([test, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let (out, err) = (String::from_utf8(child.stdout).unwrap(), String::from_utf8(child.stderr).unwrap());
    assert!(child.status.success(), "{out}{err}");
    let lines: Vec<serde_json::Value> = err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (id, bug) in out.lines().filter_map(|line| line.split("id=").nth(1)).zip(["reading", "writing"]) {
        let of_it = |line: &&serde_json::Value| {
            line["request_id"] == id && line.to_string().contains(&format!("a bug in {bug}"))
        };
        assert_eq!(lines.iter().filter(of_it).count(), 1, "{id} {bug}: {err}");
    }
    let id = out.lines().rev().find_map(|line| line.split("id=").nth(1));
    let warned = |line: &&serde_json::Value| line["message"] == "a warning in writing";
    let warnings: Vec<_> = lines.iter().filter(warned).map(|line| line["request_id"].as_str()).collect();
    assert_eq!(warnings.last(), Some(&id), "{err}");
    assert_eq!(out.matches("id=").count(), 2, "{out}");
}
