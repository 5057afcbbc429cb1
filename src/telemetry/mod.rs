//! Logs and metrics for the operator. Knows neither requests nor stores.

mod failures;
mod line;
mod log;
mod metrics;
mod repeats;
mod request_span;

pub(crate) use self::failures::causes;
pub use self::log::{Level, Log, LogSettings, LogUnavailable, Shape};
pub(crate) use self::metrics::prometheus_text;
pub use self::metrics::{
    CacheUse, InFlight, Metrics, MetricsSettings, Rejection, ReportOrigin, StoreOperation, UploadStep,
};
pub(crate) use self::repeats::Repeats;
pub(crate) use self::request_span::request_span;
