//! The response cache: renders each response once, and returns it for every request until something has changed.
//!
//! A response is returned from the cache as long as the revision of its resource is the same and time has not changed the
//! response ([`Validity`](crate::model::Validity)). Otherwise it is rendered, once for all requests that wait for it. No
//! request gets a response that is older than the request itself: if the rendering began before the request arrived, its
//! response counts only if it has the revision that the request has found.
//!
//! A rendering runs in its own task. It goes on if the request that started it goes away, so that later requests get its
//! response, and is cancelled if no request has waited for it for a while.

mod entry;
mod lru;
mod rendered;
mod rendering;
mod response;
mod shares;
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
pub use self::rendered::Rendered;
use self::rendering::{Outcome, Rendering, Waiter};
use self::response::{Expected, Response};
use self::shares::Shares;
use crate::http::content::ContentEncoding;
use crate::model::{Clock, Timestamp};
use crate::runtime::{CurrentRequest, off_thread};
use crate::stores::{Revision, Versioned};
use crate::telemetry::{CacheUse, Metrics};

/// The cached responses by question, and the renderings in progress. Clones share them.
///
/// `E` is the error of a rendering. Every request that waits for the rendering gets it.
#[derive(Clone, Debug)]
pub struct Cache<K: Eq + Hash, E>(Arc<Inner<K, E>>);

#[derive(Debug)]
struct Inner<K: Eq + Hash, E> {
    entries: Mutex<Shares<K, CacheEntry<E>>>,
    /// The number of the newest rendering.
    newest: AtomicU64,
    patience: Patience,
    /// How many responses are compressed at a time for waiting requests: one per core.
    compressing: Semaphore,
    metrics: Metrics,
}

/// When a rendering is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// A rendering that takes longer than this fails.
    pub(crate) deadline: Duration,
    /// A rendering for which no request has waited for this long is cancelled.
    pub(crate) unwaited: Duration,
}

impl Patience {
    /// Returns the limits for requests that wait at most `timeout`. A response that takes longer is ready when the client
    /// retries.
    #[must_use]
    pub fn for_requests(timeout: Duration) -> Self {
        Self { deadline: 3 * timeout, unwaited: Duration::from_secs(2) }
    }
}

/// Why a rendering ended without its own outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// It took too long.
    #[error("the response could not be rendered in time")]
    Late,
    /// It panicked.
    #[error("rendering the response panicked")]
    Panicked,
}

/// A response that holds memory may take 1/`LISTS` of the cache.
const LISTS: usize = 8;

/// Responses to questions that clients can make up in any number take 1/`SHARE` of the cache together.
pub(crate) const SHARE: usize = 4;

/// Why a rendering has no response, and which requests this concerns.
#[derive(Clone, Debug)]
pub enum Failed<E> {
    /// The error concerns every request that waits for the rendering.
    ForAll(E),
    /// The error concerns only the request that started the rendering. If others wait, they start another.
    ForStarter(E),
}

impl<E> From<E> for Failed<E> {
    fn from(error: E) -> Self {
        Self::ForAll(error)
    }
}

/// The last response to a question, which may not be current any more.
#[derive(Clone, Debug)]
pub(crate) struct LastKnown {
    /// The response.
    pub(crate) rendered: Arc<Rendered>,
    /// The revision of the data that was read.
    pub(crate) revision: Revision,
    /// When its rendering began.
    pub(crate) begun: Timestamp,
    /// When it was last known to be current.
    pub(crate) current_at: Timestamp,
}

/// The state of the cache for a request.
enum Found<E> {
    /// A response that is current.
    Cached(Arc<Response>),
    /// The error of a rendering that began after the request arrived.
    Failed(E),
    /// A rendering, which the request has joined or started.
    Rendering(Waiter<E>, CacheUse),
}

impl<K, E> Cache<K, E>
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    E: Clone + Debug + From<Unfinished> + Send + Sync + 'static,
{
    /// Makes a cache of up to `size` bytes. If `size` is 0, nothing is cached, and each request has its own rendering.
    #[must_use]
    pub fn new(size: usize, patience: Patience, metrics: Metrics) -> Self {
        Self::sharing(size, patience, metrics, |_| false)
    }

    /// Makes the same cache, in which the responses to those questions that clients can make up in any number have a part
    /// (1/[`SHARE`]) of the size, and never displace others. `is_any` returns whether a question is such a one.
    #[must_use]
    pub(crate) fn sharing(size: usize, patience: Patience, metrics: Metrics, is_any: fn(&K) -> bool) -> Self {
        Self(Arc::new(Inner {
            entries: Mutex::new(Shares::new(size, is_any)),
            newest: AtomicU64::new(0),
            patience,
            compressing: Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)),
            metrics,
        }))
    }

    /// Returns the response to a question about a resource whose revision is `present`. If no current one is cached, `render`
    /// makes it.
    ///
    /// A cache hit costs one lookup in a map. Otherwise this waits for a rendering, at most two in a row, and starts one if
    /// none is in progress. Dropping the future does not stop the rendering: others may wait for it, or arrive soon.
    ///
    /// # Errors
    ///
    /// The error of a rendering that began after this call; [`Unfinished`] if it took too long or panicked.
    pub async fn find<F>(
        &self,
        question: &K,
        present: Revision,
        clock: &dyn Clock,
        render: impl Fn() -> F,
    ) -> Result<Arc<Rendered>, E>
    where
        F: Future<Output = Result<Versioned<Rendered>, Failed<E>>> + Send + 'static,
    {
        let newest = self.0.newest.load(Ordering::SeqCst);
        let expected = Expected { newest, present, clock };
        loop {
            let (waiting, used) = match self.look(question, &expected, &render) {
                Found::Cached(response) => {
                    self.0.metrics.count_cache_use(CacheUse::Hit);
                    return Ok(Arc::clone(&response.rendered));
                }
                Found::Failed(error) => return Err(error),
                Found::Rendering(waiting, used) => (waiting, used),
            };
            self.0.metrics.count_cache_use(used);
            match waiting.outcome().await {
                Ok(response) if response.is_current(&expected) => {
                    return Ok(Arc::clone(&response.rendered));
                }
                Err(Failed::ForAll(error)) if waiting.number() > newest => return Err(error),
                Err(Failed::ForStarter(error)) if used == CacheUse::Miss => return Err(error),
                // It began before this request arrived, or its error concerns another request.
                _ => {}
            }
        }
    }

    /// Returns the response to a question about a resource whose revision is `present`, if a current one is cached. Never
    /// waits, and starts no rendering.
    #[must_use]
    pub(crate) fn cached(&self, question: &K, present: Revision, clock: &dyn Clock) -> Option<Arc<Rendered>> {
        let expected = Expected { newest: self.0.newest.load(Ordering::SeqCst), present, clock };
        let LastResponse { response, .. } = self.entries().get(question)?.last.clone()?;
        response.is_current(&expected).then(|| {
            self.0.metrics.count_cache_use(CacheUse::Hit);
            Arc::clone(&response.rendered)
        })
    }

    /// Returns the last response to a question, if it is still cached. It may not be current.
    #[must_use]
    pub(crate) fn last(&self, question: &K) -> Option<LastKnown> {
        let LastResponse { response, current_at } = self.entries().peek(question)?.last.clone()?;
        let (rendered, revision) = (Arc::clone(&response.rendered), response.revision);
        Some(LastKnown { rendered, revision, begun: response.begun, current_at })
    }

    /// Looks up the state for a request, and starts a rendering if there is neither a current response nor a rendering.
    fn look<F>(&self, question: &K, expected: &Expected<'_>, render: impl Fn() -> F) -> Found<E>
    where
        F: Future<Output = Result<Versioned<Rendered>, Failed<E>>> + Send + 'static,
    {
        let mut entries = self.entries();
        if entries.is_off() {
            return Found::Rendering(self.start(None, expected, render()).1, CacheUse::Miss);
        }
        if let Some(CacheEntry { last, rendering }) = entries.get(question) {
            if let Some(last) = last.as_mut().filter(|last| last.response.is_current(expected)) {
                last.current_at = expected.clock.now();
                return Found::Cached(Arc::clone(&last.response));
            }
            if let Some(rendering) = rendering {
                if rendering.is_under_way() {
                    return Found::Rendering(rendering.join(), CacheUse::Wait);
                }
                if let Some(error) = rendering.failure(expected) {
                    return Found::Failed(error);
                }
            }
        }
        let (rendering, waiting) = self.start(Some(question.clone()), expected, render());
        entries.change(question, |entry| entry.rendering = Some(rendering));
        Found::Rendering(waiting, CacheUse::Miss)
    }

    /// Starts a rendering. If there is a question, the response is cached under it.
    fn start(
        &self,
        question: Option<K>,
        expected: &Expected<'_>,
        render: impl Future<Output = Result<Versioned<Rendered>, Failed<E>>> + Send + 'static,
    ) -> (Arc<Rendering<E>>, Waiter<E>) {
        let number = self.0.newest.fetch_add(1, Ordering::SeqCst) + 1;
        let (present, begun) = (expected.present, expected.clock.now());
        let (rendering, first) = Rendering::new(number);
        let (cache, task) = (self.clone(), Arc::clone(&rendering));
        let running = async move {
            let outcome = select! {
                outcome = AssertUnwindSafe(render).catch_unwind() => {
                    outcome.unwrap_or_else(|_| Err(E::from(Unfinished::Panicked).into()))
                }
                () = time::sleep(cache.0.patience.deadline) => Err(E::from(Unfinished::Late).into()),
                () = cache.abandoned(question.as_ref(), &task) => {
                    cache.0.metrics.rendering_cancelled();
                    return;
                }
            };
            let outcome = outcome.map(|Versioned { revision, validity, value }| {
                let rendered = Arc::new(value);
                Arc::new(Response { number, present, revision, validity, begun, rendered })
            });
            if let Some(question) = question {
                cache.keep(&question, &task, &outcome);
            }
            task.finish(outcome);
        };
        tokio::spawn(CurrentRequest::get().run(running));
        (rendering, first)
    }

    /// Resolves when no request waits for a rendering any more. The rendering is then forgotten, so that no request can join
    /// it.
    async fn abandoned(&self, question: Option<&K>, rendering: &Arc<Rendering<E>>) {
        loop {
            rendering.nobody_waits(self.0.patience.unwaited).await;
            let Some(question) = question else { return };
            let mut entries = self.entries();
            if !rendering.is_awaited() {
                return entries.change(question, |entry| entry.forget(rendering));
            }
        }
    }

    /// Stores the outcome of a rendering. An error stays for the requests that arrived before the rendering began, but only
    /// while there is spare room, because no later request uses it. The last response stays beside it.
    fn keep(&self, question: &K, rendering: &Arc<Rendering<E>>, outcome: &Outcome<E>) {
        let mut entries = self.entries();
        let room = entries.room();
        let failed = entries.change(question, |entry| {
            if let Ok(response) = outcome {
                entry.forget(rendering);
                let Rendered { content, memory, .. } = &*response.rendered;
                // A response larger than the cache does not displace others, and a large list displaces only a few.
                let room = if memory.is_some() { room / LISTS } else { room };
                let last = || LastResponse { response: Arc::clone(response), current_at: response.begun };
                entry.last = (content.size() <= room).then(last);
            }
            entry.last.is_none()
        });
        if failed {
            entries.demote(question);
        }
        self.0.metrics.cache_size(entries.size());
    }

    /// Compresses a response in a coding, off the threads that serve requests, and waits for the result. It
    /// is compressed once for all requests that wait, and this goes on if they go away. If the response is cached, the
    /// compressed form counts against the size of the cache; a response that becomes too large with it is removed.
    ///
    /// At most one response per core is compressed at a time.
    pub(crate) async fn compress(&self, question: &K, rendered: &Arc<Rendered>, coding: ContentEncoding) {
        if rendered.content.start_encoding(coding) {
            let (cache, question, content) = (self.clone(), question.clone(), Arc::clone(&rendered.content));
            let running = async move {
                // The semaphore is never closed.
                let _turn = cache.0.compressing.acquire().await;
                let compressing = Arc::clone(&content);
                let compressed = off_thread(move |_| compressing.compress(coding)).await;
                // Only a bug in a library can end the compression without a result. The response is then sent uncompressed.
                content.finish_encoding(coding, compressed.ok().flatten());
                cache.weigh_again(&question);
            };
            tokio::spawn(CurrentRequest::get().run(running));
        }
        rendered.content.wait_for_encoding(coding).await;
    }

    /// Updates the size of the cached response to a question after its forms have changed.
    fn weigh_again(&self, question: &K) {
        let mut entries = self.entries();
        let room = entries.room();
        entries.change(question, |entry| entry.last.take_if(|last| last.response.size() > room));
        self.0.metrics.cache_size(entries.size());
    }

    fn entries(&self) -> MutexGuard<'_, Shares<K, CacheEntry<E>>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
