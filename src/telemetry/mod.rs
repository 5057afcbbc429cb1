//! Logs and metrics for the operator. Does not use the modules `http` and `stores`.

mod failures;
mod line;
mod log;
mod metrics;
mod repeat_suppressor;

pub(crate) use self::failures::causes;
pub use self::log::{Log, LogSettings, Shape};
pub(crate) use self::metrics::DeliveryOutcome;
pub use self::metrics::Metrics;
pub(crate) use self::metrics::MetricsSettings;
pub(crate) use self::metrics::StoreOperation;
pub(crate) use self::metrics::prometheus_text;
pub(crate) use self::metrics::{CacheUse, InFlight, Rejection, ReportOrigin, UploadStep};
pub(crate) use self::repeat_suppressor::RepeatSuppressor;
