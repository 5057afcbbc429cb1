use rocket::http::Header;
use rocket::{Responder, State, get};

use crate::error::Problem;
use crate::guards::MetricsReader;
use crate::telemetry::Metrics;

/// The response of `GET /metrics`.
#[derive(Responder)]
pub(super) struct Page {
    text: String,
    content_type: Header<'static>,
    cache_control: Header<'static>,
}

/// `GET /metrics`: responds with all metrics, for Prometheus. It does not query the store.
#[get("/metrics")]
pub(super) fn list_metrics(_reader: MetricsReader, metrics: &State<Metrics>) -> Result<Page, Problem> {
    Ok(Page {
        text: metrics.text().map_err(Problem::internal)?,
        content_type: Header::new(
            "Content-Type",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        cache_control: Header::new("Cache-Control", "no-store"),
    })
}
