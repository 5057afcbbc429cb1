//! The response cache: renders each response once and reuses it until the data changes.
//!
//! A cached response is current until the revision of its resource changes or its [`Validity`](crate::model::Validity) ends. Then
//! the cache renders it again, once for all requests that wait (single flight). A response is never older than its request: a
//! request uses the result of an earlier rendering only if the result has the revision that the request found.
//!
//! A rendering runs in its own task. It continues if its request is dropped, so that later requests can use it. The cache cancels
//! it after a time without waiting requests.

mod entry;
mod lru;
mod partitioned_lru;
mod rendered_response;
mod rendering;
mod response;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use rocket::futures::FutureExt;
use rocket::tokio::sync::Semaphore;
use rocket::tokio::{self, select, time};

use self::entry::{CacheEntry, LastResponse};
use self::partitioned_lru::PartitionedLru;
pub use self::rendered_response::RenderedResponse;
use self::rendering::{Outcome, Rendering, Waiter};
use self::response::{Freshness, Response};
use crate::http::content::ContentEncoding;
use crate::model::{Clock, Timestamp};
use crate::runtime::{CurrentRequest, off_thread};
use crate::stores::{Revision, Versioned};
use crate::telemetry::{CacheUse, Metrics};

/// The response cache: responses by key, and the renderings in progress. Clones share the content.
///
/// `E` is the error of a rendering. `RenderFailure` states which of the waiting requests get the error.
#[derive(Clone, Debug)]
pub struct Cache<K: Eq + Hash, E>(Arc<Inner<K, E>>);

#[derive(Debug)]
struct Inner<K: Eq + Hash, E> {
    entries: Mutex<PartitionedLru<K, CacheEntry<E>>>,
    newest: AtomicU64,
    patience: RenderTimeouts,
    /// One permit per core: limits how many responses are compressed at a time.
    compressions: Semaphore,
    metrics: Metrics,
}

/// The time limits of a rendering.
#[derive(Clone, Copy, Debug)]
pub struct RenderTimeouts {
    /// A rendering that takes longer fails.
    pub(crate) deadline: Duration,
    /// A rendering without waiting requests is cancelled after this time.
    pub(crate) abandon_after: Duration,
}

impl RenderTimeouts {
    /// Returns the limits for requests that wait at most `timeout`. A slower rendering continues, ready for a retry.
    #[must_use]
    pub fn for_requests(timeout: Duration) -> Self {
        Self { deadline: 3 * timeout, abandon_after: Duration::from_secs(2) }
    }
}

/// Why a rendering ended without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The rendering took too long.
    #[error("the response could not be rendered in time")]
    TimedOut,
    /// The rendering panicked.
    #[error("rendering the response panicked")]
    Panicked,
}

/// A response that holds memory of a permit pool may take at most `1 / LARGE_LIST_SHARE` of the cache.
const LARGE_LIST_SHARE: usize = 8;

/// All responses with unbounded keys, of which clients can choose any number, take at most `1 / UNBOUNDED_SHARE` of the cache.
pub(crate) const UNBOUNDED_SHARE: usize = 4;

/// The error of a rendering, and which requests get it.
#[derive(Clone, Debug)]
pub enum RenderFailure<E> {
    /// Every request that waits for the rendering gets the error.
    ForAll(E),
    /// Only the request that started the rendering gets the error, such as an exhausted quota. Others start a new rendering.
    ForInitiator(E),
}

impl<E> From<E> for RenderFailure<E> {
    fn from(error: E) -> Self {
        Self::ForAll(error)
    }
}

/// The last response for a key. It may be stale.
#[derive(Clone, Debug)]
pub(crate) struct LastKnown {
    pub(crate) rendered: Arc<RenderedResponse>,
    pub(crate) revision: Revision,
    pub(crate) started_at: Timestamp,
    pub(crate) current_at: Timestamp,
}

enum Lookup<E> {
    Hit(Arc<Response>),
    Failed(E),
    /// A rendering that the request has joined or started.
    Rendering(Waiter<E>, CacheUse),
}

impl<K, E> Cache<K, E>
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    E: Clone + Debug + From<RenderError> + Send + Sync + 'static,
{
    /// Returns a cache of up to `size` bytes. With size 0 nothing is cached, and each request has its own rendering.
    #[must_use]
    pub fn new(size: usize, patience: RenderTimeouts, metrics: Metrics) -> Self {
        Self::with_unbounded_keys(size, patience, metrics, |_| false)
    }

    /// Returns a cache with bounded and unbounded keys. Unbounded keys, of which clients can choose any number, share
    /// 1/[`UNBOUNDED_SHARE`] of the size and never evict bounded keys.
    #[must_use]
    pub(crate) fn with_unbounded_keys(
        size: usize,
        patience: RenderTimeouts,
        metrics: Metrics,
        is_unbounded: fn(&K) -> bool,
    ) -> Self {
        Self(Arc::new(Inner {
            entries: Mutex::new(PartitionedLru::new(size, is_unbounded)),
            newest: AtomicU64::new(0),
            patience,
            compressions: Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)),
            metrics,
        }))
    }

    /// Returns the cached response for a key if it is current, or renders it. The resource of the key has the revision `present`.
    ///
    /// A cache hit costs one map lookup. A miss waits for at most two renderings, one after the other, and starts a rendering if
    /// none is in progress. Dropping the future does not cancel the rendering: other requests may wait for it.
    ///
    /// # Errors
    ///
    /// The error of a rendering that started after this call; [`RenderError`] if it timed out or panicked.
    pub async fn get_or_render<F>(
        &self,
        key: &K,
        present: Revision,
        clock: &dyn Clock,
        render: impl Fn() -> F,
    ) -> Result<Arc<RenderedResponse>, E>
    where
        F: Future<Output = Result<Versioned<RenderedResponse>, RenderFailure<E>>> + Send + 'static,
    {
        let newest = self.0.newest.load(Ordering::SeqCst);
        let expected = Freshness { newest, present, clock };
        loop {
            let (waiter, used) = match self.lookup(key, &expected, &render) {
                Lookup::Hit(response) => {
                    self.0.metrics.count_cache_use(CacheUse::Hit);
                    return Ok(Arc::clone(&response.rendered));
                }
                Lookup::Failed(error) => return Err(error),
                Lookup::Rendering(waiter, used) => (waiter, used),
            };
            self.0.metrics.count_cache_use(used);
            match waiter.outcome().await {
                Ok(response) if response.is_current(&expected) => {
                    return Ok(Arc::clone(&response.rendered));
                }
                Err(RenderFailure::ForAll(error)) if waiter.number() > newest => return Err(error),
                Err(RenderFailure::ForInitiator(error)) if used == CacheUse::Miss => return Err(error),
                // Tries again: the rendering started before this request, or its error is for another request.
                _ => {}
            }
        }
    }

    /// Returns the cached response if it is current. Does not wait, and starts no rendering.
    #[must_use]
    pub(crate) fn get_cached(
        &self,
        key: &K,
        present: Revision,
        clock: &dyn Clock,
    ) -> Option<Arc<RenderedResponse>> {
        let expected = Freshness { newest: self.0.newest.load(Ordering::SeqCst), present, clock };
        let LastResponse { response, .. } = self.entries().get(key)?.last.clone()?;
        response.is_current(&expected).then(|| {
            self.0.metrics.count_cache_use(CacheUse::Hit);
            Arc::clone(&response.rendered)
        })
    }

    /// Returns the last response for a key, if it is still cached. It may be stale.
    #[must_use]
    pub(crate) fn last_known(&self, key: &K) -> Option<LastKnown> {
        let LastResponse { response, current_at } = self.entries().peek(key)?.last.clone()?;
        let (rendered, revision) = (Arc::clone(&response.rendered), response.revision);
        Some(LastKnown { rendered, revision, started_at: response.started_at, current_at })
    }

    /// Looks up a key. Starts a rendering if there is neither a current response nor a rendering in progress.
    fn lookup<F>(&self, key: &K, expected: &Freshness<'_>, render: impl Fn() -> F) -> Lookup<E>
    where
        F: Future<Output = Result<Versioned<RenderedResponse>, RenderFailure<E>>> + Send + 'static,
    {
        let mut entries = self.entries();
        if entries.is_off() {
            return Lookup::Rendering(self.start_rendering(None, expected, render()).1, CacheUse::Miss);
        }
        if let Some(CacheEntry { last, rendering }) = entries.get(key) {
            if let Some(last) = last.as_mut().filter(|last| last.response.is_current(expected)) {
                last.current_at = expected.clock.now();
                return Lookup::Hit(Arc::clone(&last.response));
            }
            if let Some(rendering) = rendering {
                if rendering.is_in_progress() {
                    return Lookup::Rendering(rendering.join(), CacheUse::Wait);
                }
                if let Some(error) = rendering.failure(expected) {
                    return Lookup::Failed(error);
                }
            }
        }
        let (rendering, waiter) = self.start_rendering(Some(key.clone()), expected, render());
        entries.update(key, |entry| entry.rendering = Some(rendering));
        Lookup::Rendering(waiter, CacheUse::Miss)
    }

    /// Starts a rendering. Caches the response if there is a key.
    fn start_rendering(
        &self,
        key: Option<K>,
        expected: &Freshness<'_>,
        render: impl Future<Output = Result<Versioned<RenderedResponse>, RenderFailure<E>>> + Send + 'static,
    ) -> (Arc<Rendering<E>>, Waiter<E>) {
        let number = self.0.newest.fetch_add(1, Ordering::SeqCst) + 1;
        let (present, started_at) = (expected.present, expected.clock.now());
        let (rendering, waiter) = Rendering::new(number);
        let (cache, task) = (self.clone(), Arc::clone(&rendering));
        let run = async move {
            let outcome = select! {
                outcome = AssertUnwindSafe(render).catch_unwind() => {
                    outcome.unwrap_or_else(|_| Err(E::from(RenderError::Panicked).into()))
                }
                () = time::sleep(cache.0.patience.deadline) => Err(E::from(RenderError::TimedOut).into()),
                () = cache.wait_until_abandoned(key.as_ref(), &task) => {
                    cache.0.metrics.rendering_cancelled();
                    return;
                }
            };
            let outcome = outcome.map(|Versioned { revision, validity, value }| {
                let rendered = Arc::new(value);
                Arc::new(Response { number, present, revision, validity, started_at, rendered })
            });
            if let Some(key) = key {
                cache.store_outcome(&key, &task, &outcome);
            }
            task.finish(outcome);
        };
        tokio::spawn(CurrentRequest::get().run(run));
        (rendering, waiter)
    }

    /// Resolves once no request has waited for a rendering for `abandon_after`. Then no request can join the rendering any more.
    async fn wait_until_abandoned(&self, key: Option<&K>, rendering: &Arc<Rendering<E>>) {
        loop {
            rendering.wait_until_no_waiters(self.0.patience.abandon_after).await;
            let Some(key) = key else { return };
            let mut entries = self.entries();
            if !rendering.has_waiters() {
                return entries.update(key, |entry| entry.forget(rendering));
            }
        }
    }

    /// Stores the outcome of a rendering. An error leaves the last response in the cache, and is stored for requests that arrived
    /// before the rendering started. No later request uses the error, so an entry with only an error is evicted first.
    fn store_outcome(&self, key: &K, rendering: &Arc<Rendering<E>>, outcome: &Outcome<E>) {
        let mut entries = self.entries();
        let max_size = entries.max_value_size();
        let has_no_response = entries.update(key, |entry| {
            if let Ok(response) = outcome {
                entry.forget(rendering);
                let RenderedResponse { content, memory, .. } = &*response.rendered;
                // Skips a response larger than the cache, so that it evicts no others. A large list may evict only a few.
                let max_size = if memory.is_some() { max_size / LARGE_LIST_SHARE } else { max_size };
                let last =
                    || LastResponse { response: Arc::clone(response), current_at: response.started_at };
                entry.last = (content.size() <= max_size).then(last);
            }
            entry.last.is_none()
        });
        if has_no_response {
            entries.demote(key);
        }
        self.0.metrics.cache_size(entries.size());
    }

    /// Compresses a response once for all requests that wait, on a thread that serves no requests. Continues if the requests are
    /// dropped. The compressed body counts towards the size of the cache, which removes a response that is then too large.
    pub(crate) async fn compress(&self, key: &K, rendered: &Arc<RenderedResponse>, coding: ContentEncoding) {
        if rendered.content.start_encoding(coding) {
            let (cache, key, content) = (self.clone(), key.clone(), Arc::clone(&rendered.content));
            let task = async move {
                let _turn = cache.0.compressions.acquire().await;
                let source = Arc::clone(&content);
                let compressed = off_thread(move |_| source.compress(coding)).await;
                // Compression fails only because of a bug in a library. The response is then sent uncompressed.
                content.finish_encoding(coding, compressed.ok().flatten());
                cache.update_size(&key);
            };
            tokio::spawn(CurrentRequest::get().run(task));
        }
        rendered.content.wait_for_encoding(coding).await;
    }

    fn update_size(&self, key: &K) {
        let mut entries = self.entries();
        let max_size = entries.max_value_size();
        entries.update(key, |entry| entry.last.take_if(|last| last.response.size() > max_size));
        self.0.metrics.cache_size(entries.size());
    }

    fn entries(&self) -> MutexGuard<'_, PartitionedLru<K, CacheEntry<E>>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
