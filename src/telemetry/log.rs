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
use super::line::{Line, OneLine};

/// The section `log` of the configuration: what the service writes to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// The format of a line: `text` or `json`. **Default: `text`**
    pub format: Shape,
    /// The least severe level that is written: `off`, `error`, `warn`, `info`, `debug` or `trace`. **Default: `warn`**
    pub level: Level,
    /// Whether a line is written for every request, whatever the level. **Default: `false`**
    pub access: bool,
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// For people.
    #[default]
    Text,
    /// A JSON object, for programs.
    Json,
}

/// The least severe level that is written.
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

/// The process already has a log.
#[derive(Debug, thiserror::Error)]
#[error("the process has a log already: {0}")]
pub struct LogUnavailable(#[from] TryInitError);

impl Log {
    /// The target of access-log lines.
    pub(crate) const ACCESS: &'static str = "siaga::access";

    /// Makes the process log to standard error, including panics.
    pub fn install(settings: LogSettings) -> Result<Self, LogUnavailable> {
        let (filter, handle) = reload::Layer::new(LogFilter::new(settings));
        let json = Arc::new(AtomicBool::new(settings.format == Shape::Json));
        let written = lines::layer().event_format(Line::new(Arc::clone(&json))).with_writer(OneLine);
        tracing_subscriber::registry().with(filter).with(written).try_init()?;
        log_panics();
        let log = Self { filter: handle, json };
        log.set(settings);
        Ok(log)
    }

    /// Changes the settings.
    pub(crate) fn set(&self, settings: LogSettings) {
        self.json.store(settings.format == Shape::Json, Ordering::Relaxed);
        // This fails only if the log of the process has ended.
        let _ = self.filter.reload(LogFilter::new(settings));
        // Limits Rocket's events to those that are written, because each one takes time in every request.
        log::set_max_level(settings.level.into());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// Which events are written.
struct LogFilter {
    targets: Targets,
    /// The level for Rocket's events.
    rocket: LevelFilter,
    accepting: Accepting,
}

impl LogFilter {
    fn new(settings: LogSettings) -> Self {
        // The access log and errors already contain what Rocket's events say about a request.
        let rocket = if settings.level >= Level::Debug { settings.level.into() } else { LevelFilter::OFF };
        let access = if settings.access { LevelFilter::INFO } else { LevelFilter::OFF };
        let targets = Targets::new()
            .with_default(LevelFilter::from(settings.level))
            .with_target("rocket", rocket)
            // It logs the headers and the query of each request, which can include credentials and signatures.
            .with_target("rocket::server", rocket.min(LevelFilter::WARN))
            .with_target(Accepting::TARGET, LevelFilter::from(settings.level).min(LevelFilter::WARN))
            .with_target(Log::ACCESS, access);
        Self { targets, rocket, accepting: Accepting::default() }
    }
}

impl<S: Subscriber> Layer<S> for LogFilter {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // The targets of code that Rocket generates for routes end in this way, in any module. It logs every guard that
        // refuses.
        let of_rocket = metadata.target().ends_with("::_");
        (!of_rocket || *metadata.level() <= self.rocket)
            && self.targets.would_enable(metadata.target(), metadata.level())
    }

    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        !Accepting::is_source_of(event) || self.accepting.begins_to_fail()
    }
}

/// Filters errors of accepting connections. These usually mean that the process has no file descriptors left. Rocket tries
/// again four times a second and logs each error; only the first one is written.
#[derive(Default)]
struct Accepting(Mutex<Option<Instant>>);

impl Accepting {
    const TARGET: &'static str = "rocket_http::listener";
    /// If the last error is longer ago than this, the next one is written again.
    const QUIET: Duration = Duration::from_mins(1);

    fn is_source_of(event: &Event<'_>) -> bool {
        struct Source(bool);
        impl Visit for Source {
            fn record_str(&mut self, field: &Field, value: &str) {
                self.0 |= field.name() == "log.target" && value == Accepting::TARGET;
            }

            fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
        }
        let mut source = Source(false);
        event.record(&mut source);
        source.0
    }

    fn begins_to_fail(&self) -> bool {
        let now = Instant::now();
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
        last.is_none_or(|last| now.duration_since(last) > Self::QUIET)
    }
}
