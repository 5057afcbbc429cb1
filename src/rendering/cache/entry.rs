use std::sync::Arc;

use super::lru::CacheValue;
use super::rendering::Rendering;
use super::response::Response;
use crate::model::Timestamp;

#[derive(Debug)]
pub(super) struct CacheEntry<E> {
    pub(super) last: Option<LastResponse>,
    pub(super) rendering: Option<Arc<Rendering<E>>>,
}

/// The last response for a key. It may be stale.
#[derive(Clone, Debug)]
pub(super) struct LastResponse {
    pub(super) response: Arc<Response>,
    pub(super) current_at: Timestamp,
}

impl<E> CacheEntry<E> {
    /// Removes a rendering, unless a newer one has replaced it.
    pub(super) fn forget(&mut self, rendering: &Arc<Rendering<E>>) {
        self.rendering.take_if(|newest| Arc::ptr_eq(newest, rendering));
    }
}

impl<E> Default for CacheEntry<E> {
    fn default() -> Self {
        Self { last: None, rendering: None }
    }
}

impl<E: Clone> CacheValue for CacheEntry<E> {
    fn bytes(&self) -> Option<usize> {
        match self {
            Self { last: None, rendering: None } => None,
            Self { last, .. } => Some(last.as_ref().map_or(0, |last| last.response.size())),
        }
    }

    /// Evicts the response, but not a rendering in progress, because later requests can join it.
    fn evict(&mut self) -> bool {
        self.last = None;
        self.rendering.as_ref().is_some_and(|rendering| rendering.is_in_progress())
    }
}
