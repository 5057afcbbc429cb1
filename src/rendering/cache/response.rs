use std::sync::Arc;

use super::Rendered;
use crate::model::{Clock, Timestamp, Validity};
use crate::stores::Revision;

/// A response, and how long it is current.
#[derive(Debug)]
pub(super) struct Response {
    /// The number of its rendering.
    pub(super) number: u64,
    /// The revision of its resource when the request that started the rendering asked for it.
    pub(super) present: Revision,
    /// The revision of the data that was read.
    pub(super) revision: Revision,
    pub(super) validity: Validity,
    /// When its rendering began.
    pub(super) begun: Timestamp,
    pub(super) rendered: Arc<Rendered>,
}

/// The requirements of a request for its response.
pub(super) struct Expected<'a> {
    /// The newest rendering when the request arrived.
    pub(super) newest: u64,
    /// The revision of the resource at that time.
    pub(super) present: Revision,
    pub(super) clock: &'a dyn Clock,
}

impl Response {
    /// Returns whether it is current for a request. If its rendering began after the request arrived, it always is; if earlier,
    /// only if it has the revision that the request found.
    pub(super) fn is_current(&self, expected: &Expected<'_>) -> bool {
        self.number > expected.newest || self.holds(expected.present, expected.clock)
    }

    /// Returns whether nothing has changed that the response depends on.
    fn holds(&self, present: Revision, clock: &dyn Clock) -> bool {
        // The data read can be newer than the revision that the store returned before. A revision below both means that the
        // store was restored from a backup.
        (self.present..=self.revision).contains(&present)
            && (self.validity == Validity::Always || self.validity.covers(clock.now()))
    }

    /// Returns how many bytes it takes, in all its forms.
    pub(super) fn size(&self) -> usize {
        self.rendered.content.size()
    }
}
