use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::{SetOnce, watch};
use rocket::tokio::time::timeout;

use super::Failed;
use super::response::{Expected, Response};

/// The outcome of a rendering: the response, or why there is none.
pub(super) type Outcome<E> = Result<Arc<Response>, Failed<E>>;

/// The rendering of one response in its own task, and the requests that wait for it.
#[derive(Debug)]
pub(super) struct Rendering<E> {
    /// Renderings are numbered in the order they begin.
    pub(super) number: u64,
    outcome: SetOnce<Outcome<E>>,
    /// How many requests wait.
    waiting: watch::Sender<usize>,
}

/// A request that waits for a rendering, until it is dropped.
#[derive(Debug)]
pub(super) struct Waiter<E>(Arc<Rendering<E>>);

impl<E: Clone> Rendering<E> {
    /// Makes a rendering, and the first request that waits for it.
    pub(super) fn new(number: u64) -> (Arc<Self>, Waiter<E>) {
        let rendering = Arc::new(Self { number, outcome: SetOnce::new(), waiting: watch::Sender::new(0) });
        let first = rendering.join();
        (rendering, first)
    }

    /// Lets another request wait for it.
    pub(super) fn join(self: &Arc<Self>) -> Waiter<E> {
        change(&self.waiting, |count| count + 1);
        Waiter(Arc::clone(self))
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.outcome.get().is_none()
    }

    pub(super) fn is_awaited(&self) -> bool {
        *self.waiting.borrow() > 0
    }

    /// Returns its error if it has failed, if it began after the request arrived, and if the error concerns all requests.
    pub(super) fn failure(&self, expected: &Expected<'_>) -> Option<E> {
        match self.outcome.get()?.as_ref().err()? {
            Failed::ForAll(error) if self.number > expected.newest => Some(error.clone()),
            Failed::ForAll(_) | Failed::ForStarter(_) => None,
        }
    }

    /// Resolves when no request has waited for this long.
    pub(super) async fn nobody_waits(&self, for_long: Duration) {
        let mut waiting = self.waiting.subscribe();
        loop {
            // The sender lives as long as `self`.
            drop(waiting.wait_for(|count| *count == 0).await);
            if timeout(for_long, waiting.wait_for(|count| *count > 0)).await.is_err() {
                return;
            }
        }
    }

    /// Gives the outcome to all requests that wait. Only the first call counts.
    pub(super) fn finish(&self, outcome: Outcome<E>) {
        drop(self.outcome.set(outcome));
    }
}

impl<E: Clone> Waiter<E> {
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) async fn outcome(&self) -> Outcome<E> {
        self.0.outcome.wait().await.clone()
    }
}

impl<E> Drop for Waiter<E> {
    fn drop(&mut self) {
        change(&self.0.waiting, |count| count.saturating_sub(1));
    }
}

/// Changes a count. A watcher is woken only when the count becomes zero or stops being zero.
fn change(count: &watch::Sender<usize>, change: impl FnOnce(usize) -> usize) {
    count.send_if_modified(|count| {
        let before = std::mem::replace(count, change(*count));
        (before == 0) != (*count == 0)
    });
}
