use std::sync::Arc;

use rocket::http::Header;
use rocket::{Responder, State, get};

use crate::error::Problem;
use crate::guards::MetricsReader;
use crate::stores::Store;
use crate::telemetry::Metrics;

/// What `GET /metrics` answers.
#[derive(Responder)]
pub(super) struct Page {
    text: String,
    content_type: Header<'static>,
    cache_control: Header<'static>,
}

/// `GET /metrics`: what is counted and measured, for Prometheus.
#[get("/metrics")]
pub(super) async fn list_metrics(
    _reader: MetricsReader,
    metrics: &State<Metrics>,
    store: &State<Arc<dyn Store>>,
) -> Result<Page, Problem> {
    // While the store cannot say, it is as many as it last said.
    if let Ok(waiting) = store.uploads_waiting().await {
        metrics.uploads_waiting(waiting);
    }
    Ok(Page {
        text: metrics.text().map_err(Problem::internal)?,
        content_type: Header::new(
            "Content-Type",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        cache_control: Header::new("Cache-Control", "no-store"),
    })
}
