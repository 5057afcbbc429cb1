//! Writes panics to the log, and formats errors for it.

use std::error::Error;
use std::iter;
use std::panic::{self, PanicHookInfo};

/// Logs panics as events. Replaces the panic hook of the standard library.
pub(super) fn log_panics() {
    panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let text = panic.payload_as_str().unwrap_or("without a text");
    tracing::error!(location, "panicked: {text}");
}

/// Joins an error and its causes in one line.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
