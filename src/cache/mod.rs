//! Answers that are at hand: made once, and given to everybody who asks the same until something has changed.
//!
//! A question is answered from memory while the revision of its resource stands and time has not changed the answer
//! ([`Lasting`](crate::model::Lasting)). Otherwise it is made anew, once for all who ask meanwhile. Nothing is ever given
//! that is older than the request: an answer that was begun before the request came counts only if it holds the revision
//! the request has found.

mod flight;
mod rendered;
mod shelf;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rocket::tokio::sync::Semaphore;
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::{self, time};

use self::flight::{Asked, Flight};
pub use self::rendered::Rendered;
use self::shelf::Shelf;
use crate::model::Clock;
use crate::stores::{Revision, Versioned};
use crate::telemetry::{CacheUse, Metrics};

/// The answers at hand, by the question they answer. Clones share them.
///
/// `E` is why an answer cannot be made; all who wait for one get its error.
#[derive(Clone, Debug)]
pub struct Cache<K: Eq + Hash, E>(Arc<Inner<K, E>>);

#[derive(Debug)]
struct Inner<K: Eq + Hash, E> {
    shelf: Mutex<Shelf<K, Flight<E>>>,
    /// The number of the newest flight.
    newest: AtomicU64,
    /// One content is coded at a time, beside the threads that answer.
    coding: Semaphore,
    metrics: Metrics,
}

/// An answer, or why there is none.
type Outcome<E> = Result<Arc<Rendered>, E>;

/// How long an answer that is asked for again must have stood before its shorter forms are made. They take longer to make
/// than the answer: of one that is replaced at once they would be in vain, and take the time of those who answer.
const SETTLED: Duration = Duration::from_millis(100);
/// How much longer an answer must last for these to be worth making.
const WORTHWHILE: Duration = Duration::from_secs(2);

impl<K, E> Cache<K, E>
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    E: Clone + Debug + Send + Sync + 'static,
{
    /// A cache that keeps up to `size` bytes; none at all keeps nothing, and every answer is made for its own request.
    #[must_use]
    pub fn new(size: usize, metrics: Metrics) -> Self {
        Self(Arc::new(Inner {
            shelf: Mutex::new(Shelf::new(size)),
            newest: AtomicU64::new(0),
            coding: Semaphore::new(1),
            metrics,
        }))
    }

    /// The answer to a question about a resource whose revision is `present`, made by `render` where there is none.
    ///
    /// Costs the look into a map when it is at hand. Otherwise `render` is called by one of those who wait, at most
    /// twice in a row; when that one gives up, another goes on.
    ///
    /// # Errors
    ///
    /// Those of `render`, called after this was.
    pub async fn find<F>(
        &self,
        question: &K,
        present: Revision,
        clock: &dyn Clock,
        render: impl Fn() -> F,
    ) -> Result<Arc<Rendered>, E>
    where
        F: Future<Output = Result<Versioned<Rendered>, E>>,
    {
        let asked = Asked { newest: self.0.newest.load(Ordering::SeqCst), present, clock };
        if self.shelf().keeps_nothing() {
            self.0.metrics.cache_used(CacheUse::Miss);
            return Ok(Arc::new(render().await?.value));
        }
        loop {
            let (flight, at_hand) = self.flight(question, &asked);
            if let Some(outcome) = at_hand {
                self.0.metrics.cache_used(CacheUse::Hit);
                if flight.ask_again() {
                    self.settle(question, &flight, clock);
                }
                return outcome;
            }
            let made = flight.land(&render).await;
            self.0.metrics.cache_used(if made { CacheUse::Miss } else { CacheUse::Wait });
            if made {
                self.shelve(question, &flight);
            } else if flight.ask_again() {
                self.settle(question, &flight, clock);
            }
            if let Some(outcome) = flight.outcome(&asked) {
                return outcome;
            }
        }
    }

    /// The flight that has the outcome, with that, or will have it; a new one where it is known that none has.
    fn flight(&self, question: &K, asked: &Asked<'_>) -> (Arc<Flight<E>>, Option<Outcome<E>>) {
        let mut shelf = self.shelf();
        if let Some(flight) = shelf.get(question) {
            let is_under_way = flight.is_under_way();
            let outcome = flight.outcome(asked);
            if is_under_way || outcome.is_some() {
                return (Arc::clone(flight), outcome);
            }
        }
        let number = self.0.newest.fetch_add(1, Ordering::SeqCst) + 1;
        (shelf.put(question, Flight::new(number, asked.present)), None)
    }

    /// Keeps an answer as it is now. A failure stays for those who waited for it while there is room, and takes none from
    /// answers: it helps nobody who comes later.
    fn shelve(&self, question: &K, flight: &Arc<Flight<E>>) {
        let mut shelf = self.shelf();
        if flight.has_failed() {
            shelf.demote(question, flight);
        } else {
            shelf.weigh(question, flight, flight.size());
        }
        self.0.metrics.cache_size(shelf.size());
    }

    /// Has an answer made shorter when it is still the answer after a while.
    fn settle(&self, question: &K, flight: &Arc<Flight<E>>, clock: &dyn Clock) {
        if !flight.lasts_until(clock.now().after(WORTHWHILE)) {
            return;
        }
        let (cache, question, flight) = (self.clone(), question.clone(), Arc::downgrade(flight));
        tokio::spawn(async move {
            time::sleep(SETTLED).await;
            let Ok(_one) = cache.0.coding.acquire().await else { return };
            // Nobody has it any more that was replaced.
            let Some(flight) = flight.upgrade() else { return };
            let Some(rendered) = flight.rendered() else { return };
            let room = cache.shelf().room();
            // Only a bug in a library can end it without a result; the answer then stays as it is.
            if spawn_blocking(move || rendered.content.code(room)).await.is_ok() {
                cache.shelve(&question, &flight);
            }
        });
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<K, Flight<E>>> {
        self.0.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
