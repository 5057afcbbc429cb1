use rocket::http::Header;
use rocket::{Responder, State, get};

use crate::guards::{MetricsReader, WantsOpenMetrics};
use crate::http::content::CacheControl;
use crate::http::error::Problem;
use crate::telemetry::{Metrics, prometheus_text};

#[derive(Responder)]
pub(super) struct Page {
    text: String,
    content_type: Header<'static>,
    cache_control: Header<'static>,
}

/// Responds in `OpenMetrics` if `Accept` prefers it, otherwise in the text format of Prometheus. Does not query the store.
#[get("/metrics")]
pub(super) fn list_metrics(
    _reader: MetricsReader,
    wants_open: WantsOpenMetrics,
    metrics: &State<Metrics>,
) -> Result<Page, Problem> {
    let text = metrics.text().map_err(Problem::internal)?;
    let (text, media_type) = if wants_open.0 {
        (text, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    } else {
        (prometheus_text(&text), "text/plain; version=0.0.4; charset=utf-8")
    };
    Ok(Page {
        text,
        content_type: Header::new("Content-Type", media_type),
        cache_control: Header::new("Cache-Control", CacheControl::NO_STORE),
    })
}
