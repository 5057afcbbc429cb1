use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use minijinja::value::Object;
use minijinja::{Error, ErrorKind, State};
use ubyte::ByteUnit;

use crate::model::CancelFlag;
use crate::model::duration::written;

/// A template may print up to this many times `max_bytes` for one document, because text that a block captures or a macro builds
/// is counted twice: when it is printed, and when it leaves the block or macro.
const TIMES: usize = 4;

/// How much a template may write for one layer, and how long it may take.
#[derive(Debug)]
pub(super) struct Budget {
    max_bytes: ByteUnit,
    max_time: Duration,
    /// The end of its time; `None` if that is too far away to express.
    until: Option<Instant>,
    /// Tells when no request waits for the document any more.
    stop: CancelFlag,
    printed: AtomicUsize,
    /// The first limit that was exceeded.
    exceeded: OnceLock<String>,
}

impl Budget {
    /// The variable that holds it, with a name that no template can write.
    pub(super) const VARIABLE: &str = "max_bytes and max_time";

    /// Returns a budget whose time begins now.
    pub(super) fn new(max_bytes: ByteUnit, max_time: Duration, stop: CancelFlag) -> Self {
        let until = Instant::now().checked_add(max_time);
        Self { max_bytes, max_time, until, stop, printed: AtomicUsize::default(), exceeded: OnceLock::new() }
    }

    /// Returns the budget of the current rendering.
    pub(super) fn current(state: &mut State<'_, '_>) -> Result<Arc<Self>, Error> {
        if let Some(budget) = state.get_extension::<Arc<Self>>() {
            return Ok(Arc::clone(budget));
        }
        let budget = state.lookup(Self::VARIABLE).and_then(|value| value.downcast_object::<Self>());
        let budget = budget.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "has no bounds"))?;
        Ok(Arc::clone(state.get_or_insert_extension(budget)))
    }

    /// Returns which limit was exceeded, if any.
    pub(super) fn exceeded(&self) -> Option<&str> {
        self.exceeded.get().map(String::as_str)
    }

    /// Fails if the time is over, or no request waits any more.
    pub(super) fn goes_on(&self) -> Result<(), Error> {
        self.stop.check().map_err(|stopped| self.refuse(|| stopped.to_string()))?;
        if self.until.is_none_or(|until| Instant::now() <= until) {
            return Ok(());
        }
        Err(self.refuse(|| format!("it takes longer than max_time, {}", written(self.max_time))))
    }

    /// Fails if a text is too long.
    pub(super) fn allows(&self, length: usize) -> Result<(), Error> {
        if length <= self.most() {
            return Ok(());
        }
        Err(self.refuse(|| format!("it makes more than max_bytes, {}", self.max_bytes)))
    }

    /// Counts a text that is printed, perhaps into a block that captures it.
    pub(super) fn print(&self, length: usize) -> Result<(), Error> {
        self.goes_on()?;
        self.allows(length)?;
        let before = self.printed.fetch_add(length, Ordering::Relaxed);
        if before.saturating_add(length) <= self.most().saturating_mul(TIMES) {
            return Ok(());
        }
        Err(self.refuse(|| {
            format!("it prints more than {TIMES} times max_bytes, {}, in blocks it captures", self.max_bytes)
        }))
    }

    fn most(&self) -> usize {
        // A limit beyond the address space is the same as none.
        self.max_bytes.as_u64().try_into().unwrap_or(usize::MAX)
    }

    fn refuse(&self, why: impl FnOnce() -> String) -> Error {
        Error::new(ErrorKind::InvalidOperation, self.exceeded.get_or_init(why).clone())
    }
}

impl Object for Budget {}
