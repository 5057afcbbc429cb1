use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Rendered;
use crate::model::{Clock, Timestamp, Validity};
use crate::stores::Revision;

/// A response and how long it is current.
#[derive(Debug)]
pub(super) struct Response {
    /// The number of its rendering.
    pub(super) number: u64,
    /// The revision its resource had when the rendering began.
    pub(super) present: Revision,
    /// The revision it was read at.
    pub(super) revision: Revision,
    pub(super) validity: Validity,
    /// When its rendering began.
    pub(super) begun: Timestamp,
    pub(super) rendered: Arc<Rendered>,
    /// Whether it was given to a request other than the one it was rendered for.
    pub(super) asked_again: AtomicBool,
}

/// What a request may be answered with.
pub(super) struct Expected<'a> {
    /// The newest rendering when the request came.
    pub(super) newest: u64,
    /// The revision the resource had.
    pub(super) present: Revision,
    pub(super) clock: &'a dyn Clock,
}

impl Response {
    /// Whether it is current for a request. A rendering that began after the request came always is; one that began
    /// earlier only if it holds the revision the request found.
    pub(super) fn is_current(&self, expected: &Expected<'_>) -> bool {
        self.number > expected.newest || self.holds(expected.present, expected.clock)
    }

    /// Whether nothing has changed that the response depends on.
    fn holds(&self, present: Revision, clock: &dyn Clock) -> bool {
        // What was read can be newer than what the store had said. A revision below that was restored from a backup.
        (self.present..=self.revision).contains(&present)
            && (self.validity == Validity::Always || self.validity.covers(clock.now()))
    }

    /// How many bytes it takes, in all its forms.
    pub(super) fn size(&self) -> usize {
        self.rendered.content.size()
    }

    /// Notes that another request gets it; tells whether that is the first.
    pub(super) fn ask_again(&self) -> bool {
        !self.asked_again.load(Ordering::Relaxed) && !self.asked_again.swap(true, Ordering::Relaxed)
    }
}
