use std::sync::Arc;

use super::lru::Value;
use super::rendering::Rendering;
use super::response::Response;
use crate::model::Timestamp;

/// The cache entry of one question.
#[derive(Debug)]
pub(super) struct CacheEntry<E> {
    /// The last response, current or not.
    pub(super) last: Option<LastResponse>,
    /// The newest rendering, if it is in progress or has failed.
    pub(super) rendering: Option<Arc<Rendering<E>>>,
}

/// The last response to a question, which may not be current any more.
#[derive(Clone, Debug)]
pub(super) struct LastResponse {
    pub(super) response: Arc<Response>,
    /// When it was last known to be current.
    pub(super) current_at: Timestamp,
}

impl<E> CacheEntry<E> {
    /// Forgets a rendering, if it is still the newest.
    pub(super) fn forget(&mut self, rendering: &Arc<Rendering<E>>) {
        self.rendering.take_if(|newest| Arc::ptr_eq(newest, rendering));
    }
}

impl<E> Default for CacheEntry<E> {
    fn default() -> Self {
        Self { last: None, rendering: None }
    }
}

impl<E: Clone> Value for CacheEntry<E> {
    fn bytes(&self) -> Option<usize> {
        match self {
            Self { last: None, rendering: None } => None,
            Self { last, .. } => Some(last.as_ref().map_or(0, |last| last.response.size())),
        }
    }

    /// Requests that arrive later join a rendering in progress, so it stays.
    fn evict(&mut self) -> bool {
        self.last = None;
        self.rendering.as_ref().is_some_and(|rendering| rendering.is_under_way())
    }
}
