use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Registry, fmt as lines, reload};

use super::failures::log_panics;
use super::line::{Line, SingleLineWriter};

/// The section `log` of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Format of the lines: `text` or `json`. **Default: `text`**
    pub format: Shape,
    /// Least severe level: `off`, `error`, `warn`, `info`, `debug` or `trace`. **Default: `warn`**
    pub level: Level,
    /// Writes a line for every request, at any level. **Default: `false`**
    pub access: bool,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// For people.
    #[default]
    Text,
    /// A JSON object, for programs.
    Json,
}

/// Least severe level that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    Off,
    /// Failures.
    Error,
    /// Also warnings for the operator.
    #[default]
    Warn,
    /// Also normal events.
    Info,
    /// Also events that help to find a fault, including Rocket's own.
    Debug,
    /// Everything.
    Trace,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::OFF,
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
            Level::Trace => Self::TRACE,
        }
    }
}

impl From<Level> for log::LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::Off,
            Level::Error => Self::Error,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
            Level::Trace => Self::Trace,
        }
    }
}

/// The log of the process. Its settings can change while the process runs.
#[derive(Clone)]
pub struct Log {
    filter: reload::Handle<LogFilter, Registry>,
    json: Arc<AtomicBool>,
}

/// Error: the process already has a log.
#[derive(Debug, thiserror::Error)]
#[error("the process has a log already: {0}")]
pub struct LogAlreadyInstalled(#[from] TryInitError);

impl Log {
    pub(crate) const ACCESS: &'static str = "siaga::access";

    /// Logs events and panics of the process to standard error.
    ///
    /// # Errors
    ///
    /// If the process already has a log.
    pub fn install(settings: LogSettings) -> Result<Self, LogAlreadyInstalled> {
        let (filter, handle) = reload::Layer::new(LogFilter::new(settings));
        let json = Arc::new(AtomicBool::new(settings.format == Shape::Json));
        let writer = lines::layer().event_format(Line::new(Arc::clone(&json))).with_writer(SingleLineWriter);
        tracing_subscriber::registry().with(filter).with(writer).try_init()?;
        log_panics();
        let log = Self { filter: handle, json };
        log.set(settings);
        Ok(log)
    }

    pub(crate) fn set(&self, settings: LogSettings) {
        self.json.store(settings.format == Shape::Json, Ordering::Relaxed);
        // Fails only if the log of the process has ended.
        let _ = self.filter.reload(LogFilter::new(settings));
        // Filters Rocket's events before they are created, because creating them costs time in every request.
        log::set_max_level(settings.level.into());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

struct LogFilter {
    targets: Targets,
    rocket: LevelFilter,
    accept_errors: AcceptErrors,
}

impl LogFilter {
    fn new(settings: LogSettings) -> Self {
        // Off unless the level is `debug` or `trace`: Rocket's events only repeat the content of the access log and of errors.
        let rocket = if settings.level >= Level::Debug { settings.level.into() } else { LevelFilter::OFF };
        let access = if settings.access { LevelFilter::INFO } else { LevelFilter::OFF };
        let targets = Targets::new()
            .with_default(LevelFilter::from(settings.level))
            .with_target("rocket", rocket)
            // Limited to warnings, because this target logs headers and queries, which can contain credentials and signatures.
            .with_target("rocket::server", rocket.min(LevelFilter::WARN))
            .with_target(AcceptErrors::TARGET, LevelFilter::from(settings.level).min(LevelFilter::WARN))
            .with_target(Log::ACCESS, access);
        Self { targets, rocket, accept_errors: AcceptErrors::default() }
    }
}

impl<S: Subscriber> Layer<S> for LogFilter {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // The code that Rocket generates for routes logs every guard that rejects a request. Its targets end in `::_`.
        let is_generated = metadata.target().ends_with("::_");
        (!is_generated || *metadata.level() <= self.rocket)
            && self.targets.would_enable(metadata.target(), metadata.level())
    }

    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        !AcceptErrors::matches(event) || self.accept_errors.is_first_failure()
    }
}

/// Suppresses repeated errors of `accept`: without file descriptors, Rocket retries four times a second and logs each error.
#[derive(Default)]
struct AcceptErrors(Mutex<Option<Instant>>);

impl AcceptErrors {
    const TARGET: &'static str = "rocket_http::listener";
    const PAUSE: Duration = Duration::from_mins(1);

    /// Whether the event is an error in accepting a connection, according to its log target.
    fn matches(event: &Event<'_>) -> bool {
        struct Source(bool);
        impl Visit for Source {
            fn record_str(&mut self, field: &Field, value: &str) {
                self.0 |= field.name() == "log.target" && value == AcceptErrors::TARGET;
            }

            fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
        }
        let mut source = Source(false);
        event.record(&mut source);
        source.0
    }

    fn is_first_failure(&self) -> bool {
        let now = Instant::now();
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
        last.is_none_or(|last| now.duration_since(last) > Self::PAUSE)
    }
}
