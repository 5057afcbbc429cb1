use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use minijinja::value::Object;
use minijinja::{Error, ErrorKind, State};
use ubyte::ByteUnit;

use crate::model::CancelFlag;
use crate::model::duration::format_duration;

/// The limit for all printed bytes, as a multiple of `max_bytes`. Text that a block captures or a macro builds is printed twice.
const TIMES: usize = 4;

#[derive(Debug)]
pub(super) struct Budget {
    max_bytes: ByteUnit,
    max_time: Duration,
    /// The deadline; `None` if it is too late for an `Instant`.
    until: Option<Instant>,
    stop: CancelFlag,
    printed: AtomicUsize,
    exceeded: OnceLock<String>,
}

impl Budget {
    /// The template variable that contains the budget. The name contains spaces, so templates cannot access the variable.
    pub(super) const VARIABLE: &str = "max_bytes and max_time";

    pub(super) fn new(max_bytes: ByteUnit, max_time: Duration, stop: CancelFlag) -> Self {
        let until = Instant::now().checked_add(max_time);
        Self { max_bytes, max_time, until, stop, printed: AtomicUsize::default(), exceeded: OnceLock::new() }
    }

    /// Returns the budget of the running template. Fails if the template has no budget.
    pub(super) fn current(state: &mut State<'_, '_>) -> Result<Arc<Self>, Error> {
        if let Some(budget) = state.get_extension::<Arc<Self>>() {
            return Ok(Arc::clone(budget));
        }
        let budget = state.lookup(Self::VARIABLE).and_then(|value| value.downcast_object::<Self>());
        let budget = budget.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "has no bounds"))?;
        Ok(Arc::clone(state.get_or_insert_extension(budget)))
    }

    pub(super) fn exceeded(&self) -> Option<&str> {
        self.exceeded.get().map(String::as_str)
    }

    /// Fails if the rendering was cancelled or takes too long.
    pub(super) fn check_time(&self) -> Result<(), Error> {
        self.stop.check().map_err(|stopped| self.exceed(|| stopped.to_string()))?;
        if self.until.is_none_or(|until| Instant::now() <= until) {
            return Ok(());
        }
        Err(self.exceed(|| format!("it takes longer than max_time, {}", format_duration(self.max_time))))
    }

    pub(super) fn check_length(&self, length: usize) -> Result<(), Error> {
        if length <= self.max_length() {
            return Ok(());
        }
        Err(self.exceed(|| format!("it makes more than max_bytes, {}", self.max_bytes)))
    }

    /// Counts printed text, including text that a block captures. Fails if a limit is exceeded.
    pub(super) fn print(&self, length: usize) -> Result<(), Error> {
        self.check_time()?;
        self.check_length(length)?;
        let previous = self.printed.fetch_add(length, Ordering::Relaxed);
        if previous.saturating_add(length) <= self.max_length().saturating_mul(TIMES) {
            return Ok(());
        }
        Err(self.exceed(|| {
            format!("it prints more than {TIMES} times max_bytes, {}, in blocks it captures", self.max_bytes)
        }))
    }

    fn max_length(&self) -> usize {
        // A limit that does not fit in `usize` cannot be reached.
        self.max_bytes.as_u64().try_into().unwrap_or(usize::MAX)
    }

    fn exceed(&self, reason: impl FnOnce() -> String) -> Error {
        Error::new(ErrorKind::InvalidOperation, self.exceeded.get_or_init(reason).clone())
    }
}

impl Object for Budget {}
