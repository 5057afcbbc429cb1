//! A response is rendered once for all waiting requests, and only while one waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use figment::Figment;
use rocket::http::Status;
use rocket::local::asynchronous::Client;
use rocket::tokio::time;
use siaga::formats::{EncodeContext, EncodeError, Format};
use siaga::model::{Layer, LayerKind};

use crate::fixture::block_on;
use crate::independent::text_format::TextFormat;
use crate::suite::eventually::eventually;
use crate::suite::support::{Siaga, figment, service};

/// The state of a format that blocks until it is released or cancelled.
#[derive(Debug, Default)]
struct Gate {
    let_through: AtomicU64,
    begun: AtomicU64,
    stopped: AtomicU64,
}

impl Gate {
    fn pass(&self, context: &EncodeContext) -> Result<String, EncodeError> {
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
        Ok("let through".to_owned())
    }
}

/// A gated format; only the example of the OpenAPI document passes.
fn gated() -> (Arc<Gate>, Arc<dyn Format>) {
    let gate = Arc::new(Gate { let_through: AtomicU64::new(100), ..Gate::default() });
    let of_format = Arc::clone(&gate);
    let write = move |_: &Layer, context: &EncodeContext| of_format.pass(context);
    (gate, Arc::new(TextFormat { name: "gated", kind: LayerKind::Infrastructure, write }))
}

const ADDRESS: &str = "/v1/infrastructure?geoformat=gated";

fn configured(timeout: &str) -> Figment {
    figment()
        .merge(("siaga.formats.enabled", ["topojson", "gated"]))
        .merge(("siaga.limits.timeout", timeout))
        .merge(("siaga.metrics.enabled", true))
}

/// Lets only the example of the OpenAPI document pass.
fn begin(format: &Gate) {
    format.let_through.store(0, Ordering::SeqCst);
    format.begun.store(0, Ordering::SeqCst);
}

#[test]
fn a_response_slower_than_the_timeout_is_rendered_once_for_all_retries() {
    let (gate, format) = gated();
    let siaga = Siaga::with(configured("1s"), |builder| builder.format(format));
    begin(&gate);
    let late = siaga.get(ADDRESS);
    assert_eq!(late.status(), Status::ServiceUnavailable);
    assert_eq!(late.headers().get_one("Retry-After"), Some("1"));
    gate.let_through.store(1, Ordering::SeqCst);
    assert_eq!(siaga.get(ADDRESS).into_string().unwrap(), "let through");
    assert_eq!(siaga.get(ADDRESS).into_string().unwrap(), "let through");
    assert_eq!(gate.begun.load(Ordering::SeqCst), 1);
    assert_eq!(siaga.metric("siaga_cache_misses_total"), 1.0);
    assert_eq!(siaga.metric("siaga_renderings_cancelled_total"), 0.0);
}

#[test]
fn rendering_stops_when_its_last_request_has_gone() {
    let (gate, format) = gated();
    block_on(async {
        let (rocket, _, _opener) = service(configured("10s"), |builder| builder.format(format)).await;
        let client = Client::untracked(rocket).await.unwrap();
        begin(&gate);
        let request = client.get(ADDRESS);
        let gone = time::timeout(Duration::from_millis(200), request.dispatch()).await;
        assert!(gone.is_err(), "it waits");
        let stopped = async || gate.stopped.load(Ordering::SeqCst);
        eventually("it is written no further", Duration::from_secs(8), stopped, |stopped| *stopped > 0).await;
        let page = client.get("/metrics").dispatch().await.into_string().await.unwrap();
        assert!(page.contains("siaga_renderings_cancelled_total 1\n"), "{page}");
        begin(&gate);
        gate.let_through.store(1, Ordering::SeqCst);
        assert_eq!(client.get(ADDRESS).dispatch().await.status(), Status::Ok);
    });
}
