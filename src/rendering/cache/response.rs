use std::sync::Arc;

use super::RenderedResponse;
use crate::model::{Clock, Timestamp, Validity};
use crate::stores::Revision;

#[derive(Debug)]
pub(super) struct Response {
    pub(super) number: u64,
    /// The revision of the response's resource when the rendering was requested.
    pub(super) present: Revision,
    pub(super) revision: Revision,
    pub(super) validity: Validity,
    pub(super) started_at: Timestamp,
    pub(super) rendered: Arc<RenderedResponse>,
}

pub(super) struct Freshness<'a> {
    /// The number of the newest rendering when the request arrived.
    pub(super) newest: u64,
    pub(super) present: Revision,
    pub(super) clock: &'a dyn Clock,
}

impl Response {
    /// Returns whether the response is current for a request: if its rendering started after the request arrived, or if it has
    /// the revision that the request found and is still valid.
    pub(super) fn is_current(&self, expected: &Freshness<'_>) -> bool {
        self.number > expected.newest || self.is_unchanged(expected.present, expected.clock)
    }

    fn is_unchanged(&self, present: Revision, clock: &dyn Clock) -> bool {
        // The rendering read the revision before the data, so the data may be newer. If `present` is lower than both revisions,
        // the store was restored from a backup.
        (self.present..=self.revision).contains(&present)
            && (self.validity == Validity::Always || self.validity.covers(clock.now()))
    }

    pub(super) fn size(&self) -> usize {
        self.rendered.content.size()
    }
}
