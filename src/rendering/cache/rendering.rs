use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::{SetOnce, watch};
use rocket::tokio::time::timeout;

use super::RenderFailure;
use super::response::{Freshness, Response};

pub(super) type Outcome<E> = Result<Arc<Response>, RenderFailure<E>>;

/// The rendering of one response, in its own task, and the number of requests that wait for it.
#[derive(Debug)]
pub(super) struct Rendering<E> {
    /// A rendering that starts later has a higher number.
    pub(super) number: u64,
    outcome: SetOnce<Outcome<E>>,
    waiters: watch::Sender<usize>,
}

#[derive(Debug)]
pub(super) struct Waiter<E>(Arc<Rendering<E>>);

impl<E: Clone> Rendering<E> {
    pub(super) fn new(number: u64) -> (Arc<Self>, Waiter<E>) {
        let rendering = Arc::new(Self { number, outcome: SetOnce::new(), waiters: watch::Sender::new(0) });
        let waiter = rendering.join();
        (rendering, waiter)
    }

    pub(super) fn join(self: &Arc<Self>) -> Waiter<E> {
        change(&self.waiters, |count| count + 1);
        Waiter(Arc::clone(self))
    }

    pub(super) fn is_in_progress(&self) -> bool {
        self.outcome.get().is_none()
    }

    pub(super) fn has_waiters(&self) -> bool {
        *self.waiters.borrow() > 0
    }

    /// Returns the error of the rendering if the error is for every request and the rendering started after this request arrived.
    pub(super) fn failure(&self, expected: &Freshness<'_>) -> Option<E> {
        match self.outcome.get()?.as_ref().err()? {
            RenderFailure::ForAll(error) if self.number > expected.newest => Some(error.clone()),
            RenderFailure::ForAll(_) | RenderFailure::ForInitiator(_) => None,
        }
    }

    /// Resolves once no request has waited for the rendering for the time `grace`.
    pub(super) async fn wait_until_no_waiters(&self, grace: Duration) {
        let mut waiters = self.waiters.subscribe();
        loop {
            drop(waiters.wait_for(|count| *count == 0).await);
            if timeout(grace, waiters.wait_for(|count| *count > 0)).await.is_err() {
                return;
            }
        }
    }

    /// Sets the outcome for all waiting requests. Later calls have no effect.
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
        change(&self.0.waiters, |count| count.saturating_sub(1));
    }
}

/// Updates the count. Wakes the watcher only when the count becomes zero or stops being zero.
fn change(count: &watch::Sender<usize>, change: impl FnOnce(usize) -> usize) {
    count.send_if_modified(|count| {
        let before = std::mem::replace(count, change(*count));
        (before == 0) != (*count == 0)
    });
}
