//! Errors in the log.

use std::error::Error;
use std::iter;

/// An error and its causes in one line.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
