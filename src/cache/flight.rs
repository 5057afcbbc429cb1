use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rocket::tokio::sync::OnceCell;

use super::Rendered;
use super::shelf::Keep;
use crate::model::{Clock, Lasting, Timestamp};
use crate::stores::{Revision, Versioned};

/// The making of an answer, for which many can wait, and its outcome.
#[derive(Debug)]
pub(super) struct Flight<E> {
    /// Flights are numbered in the order they begin.
    number: u64,
    /// The revision its resource had when it began.
    present: Revision,
    outcome: OnceCell<Result<Arrived, E>>,
    /// Whether its answer was given to another than the first who asked.
    asked_again: AtomicBool,
}

/// Who asks, and when.
pub(super) struct Asked<'a> {
    /// The newest flight there was.
    pub(super) newest: u64,
    /// The revision the resource had.
    pub(super) present: Revision,
    pub(super) clock: &'a dyn Clock,
}

#[derive(Debug)]
struct Arrived {
    /// The revision it was read at.
    revision: Revision,
    lasting: Lasting,
    rendered: Arc<Rendered>,
}

impl<E: Clone> Keep for Flight<E> {
    fn is_awaited(&self) -> bool {
        self.is_under_way()
    }
}

impl<E: Clone> Flight<E> {
    pub(super) fn new(number: u64, present: Revision) -> Self {
        Self { number, present, outcome: OnceCell::new(), asked_again: AtomicBool::new(false) }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.outcome.get().is_none()
    }

    /// Notes that somebody else asks for it; tells whether that is the first time.
    pub(super) fn ask_again(&self) -> bool {
        !self.asked_again.load(Ordering::Relaxed) && !self.asked_again.swap(true, Ordering::Relaxed)
    }

    /// The outcome for somebody who asks; `None` when it does not hold what that one may expect, or is not there yet.
    pub(super) fn outcome(&self, asked: &Asked<'_>) -> Option<Result<Arc<Rendered>, E>> {
        let outcome = self.outcome.get()?;
        // What was begun after the question is as new as anything. Of what was begun before only an answer counts: a
        // failure tells nobody anything who comes later.
        let counts = self.number > asked.newest
            || outcome.as_ref().is_ok_and(|arrived| self.holds(arrived, asked.present, asked.clock));
        counts.then(|| outcome.as_ref().map(|arrived| Arc::clone(&arrived.rendered)).map_err(E::clone))
    }

    /// Whether there is an answer that time does not change until then.
    pub(super) fn lasts_until(&self, moment: Timestamp) -> bool {
        self.outcome
            .get()
            .and_then(|outcome| outcome.as_ref().ok())
            .is_some_and(|arrived| arrived.lasting.covers(moment))
    }

    /// Whether nothing has changed that the answer depends on.
    fn holds(&self, arrived: &Arrived, present: Revision, clock: &dyn Clock) -> bool {
        // What was read can be newer than what the store had said. A revision below that was restored from a backup.
        (self.present..=arrived.revision).contains(&present)
            && (arrived.lasting == Lasting::Always || arrived.lasting.covers(clock.now()))
    }

    /// Waits for the outcome, and makes it if nobody else does; tells whether this call has made it.
    pub(super) async fn land<F>(&self, render: impl Fn() -> F) -> bool
    where
        F: Future<Output = Result<Versioned<Rendered>, E>>,
    {
        let mut made = false;
        let making = || {
            made = true;
            async {
                let Versioned { revision, lasting, value } = render().await?;
                Ok(Arrived { revision, lasting, rendered: Arc::new(value) })
            }
        };
        self.outcome.get_or_init(making).await;
        made
    }

    pub(super) fn has_failed(&self) -> bool {
        self.outcome.get().is_some_and(Result::is_err)
    }

    pub(super) fn rendered(&self) -> Option<Arc<Rendered>> {
        let arrived = self.outcome.get()?.as_ref().ok()?;
        Some(Arc::clone(&arrived.rendered))
    }

    /// How many bytes it keeps.
    pub(super) fn size(&self) -> usize {
        self.rendered().map_or(0, |rendered| rendered.content.size())
    }
}
