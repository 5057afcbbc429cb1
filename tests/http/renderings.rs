//! Responses are rendered once for all who wait, and no longer than somebody does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use figment::Figment;
use rocket::http::Status;
use rocket::local::asynchronous::Client;
use rocket::tokio::time;
use siaga::Builder;
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{Layer, LayerKind};

use crate::fixture::block_on;
use crate::suite::eventually::eventually;
use crate::suite::support::{Siaga, figment, service};

/// A format that writes nothing until it is let, or stopped.
#[derive(Debug, Default)]
struct Gated {
    /// How many documents it may still write.
    let_through: AtomicU64,
    begun: AtomicU64,
    stopped: AtomicU64,
}

impl Format for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/plain"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Infrastructure
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, _: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let take = |count: u64| count.checked_sub(1);
        while self.let_through.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            context.check().map_err(|stopped| {
                self.stopped.fetch_add(1, Ordering::SeqCst);
                EncodeError::new("gated", stopped)
            })?;
            // How long a step of a slow format takes.
            thread::sleep(Duration::from_millis(1));
        }
        out.extend(b"let through");
        Ok(())
    }
}

const ADDRESS: &str = "/v1/infrastructure?geoformat=gated";

fn configured(timeout: &str) -> Figment {
    figment()
        .merge(("siaga.formats.enabled", ["topojson", "gated"]))
        .merge(("siaga.limits.timeout", timeout))
        .merge(("siaga.metrics.enabled", true))
}

/// Lets the example be written that the description of the interface has, and nothing after.
fn begin(format: &Gated) {
    format.let_through.store(0, Ordering::SeqCst);
    format.begun.store(0, Ordering::SeqCst);
}

impl Gated {
    fn new() -> Arc<Self> {
        Arc::new(Self { let_through: AtomicU64::new(100), ..Self::default() })
    }
}

fn counted(page: &str, name: &str) -> u64 {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("_total "));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_response_slower_than_its_requests_wait_is_rendered_once_for_all_who_ask_again() {
    let format = Gated::new();
    let siaga =
        Siaga::with(configured("1s"), |builder| builder.format(Arc::clone(&format) as Arc<dyn Format>));
    begin(&format);
    let late = siaga.get(ADDRESS);
    assert_eq!(late.status(), Status::ServiceUnavailable);
    assert_eq!(late.headers().get_one("Retry-After"), Some("1"));
    format.let_through.store(1, Ordering::SeqCst);
    assert_eq!(siaga.get(ADDRESS).into_string().unwrap(), "let through");
    assert_eq!(siaga.get(ADDRESS).into_string().unwrap(), "let through");
    assert_eq!(format.begun.load(Ordering::SeqCst), 1);
    let page = siaga.get("/metrics").into_string().unwrap();
    assert_eq!(counted(&page, "siaga_cache_misses"), 1);
    assert_eq!(counted(&page, "siaga_renderings_cancelled"), 0);
}

#[test]
fn a_response_whose_request_has_gone_is_written_no_further() {
    let format = Gated::new();
    block_on(async {
        let formats = |builder: Builder| builder.format(Arc::clone(&format) as Arc<dyn Format>);
        let (rocket, _, _opener) = service(configured("10s"), formats).await;
        let client = Client::untracked(rocket).await.unwrap();
        begin(&format);
        let request = client.get(ADDRESS);
        let gone = time::timeout(Duration::from_millis(200), request.dispatch()).await;
        assert!(gone.is_err(), "it waits");
        let stopped = async || format.stopped.load(Ordering::SeqCst);
        eventually("it is written no further", Duration::from_secs(8), stopped, |stopped| *stopped > 0).await;
        let page = client.get("/metrics").dispatch().await.into_string().await.unwrap();
        assert_eq!(counted(&page, "siaga_renderings_cancelled"), 1);
        begin(&format);
        format.let_through.store(1, Ordering::SeqCst);
        assert_eq!(client.get(ADDRESS).dispatch().await.status(), Status::Ok);
    });
}
