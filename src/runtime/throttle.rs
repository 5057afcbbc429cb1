use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rocket::tokio::{sync, time};

use crate::model::Clock;

/// Computes an expensive value at most once in a period, for all callers.
///
/// A caller gets a value whose computation started after its call. If the period of the last value has not ended, the caller
/// first waits for its end, together with all others.
#[derive(Debug)]
pub(crate) struct Throttle<V> {
    period: Duration,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<LastResult<V>>>,
    /// Held during the computation and the wait before it.
    turn: sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct LastResult<V> {
    started: Instant,
    /// By the clock, whose monotonic time tests can set.
    started_at: Instant,
    value: V,
}

impl<V: Clone> Throttle<V> {
    pub(crate) fn new(period: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { period, clock, last: Mutex::default(), turn: sync::Mutex::default() }
    }

    /// Returns a value whose computation started after the call, possibly by another caller.
    pub(crate) async fn get(&self, compute: impl Future<Output = V>) -> V {
        let called = Instant::now();
        let _turn = self.turn.lock().await;
        let last = self.last().as_ref().map(|last| (last.started, last.started_at, last.value.clone()));
        if let Some((started, started_at, value)) = last {
            if started >= called {
                return value;
            }
            let remaining = self.remaining(started_at);
            if !remaining.is_zero() {
                time::sleep(remaining).await;
            }
        }
        let (started, started_at) = (Instant::now(), self.clock.monotonic());
        let value = compute.await;
        *self.last() = Some(LastResult { started, started_at, value: value.clone() });
        value
    }

    /// Returns the last value, and whether its period has not ended yet.
    pub(crate) fn last_value(&self) -> Option<(V, bool)> {
        let last = self.last().clone()?;
        Some((last.value, !self.remaining(last.started_at).is_zero()))
    }

    fn remaining(&self, started_at: Instant) -> Duration {
        self.period.saturating_sub(self.clock.monotonic().saturating_duration_since(started_at))
    }

    fn last(&self) -> MutexGuard<'_, Option<LastResult<V>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the `cached` result if it is younger than `max_age`, otherwise the result of `read`. The age counts from the end of
/// the read, because a read can take longer than `max_age`.
pub(crate) async fn recent<T>(
    cached: Option<(Instant, T)>,
    max_age: Duration,
    read: impl Future<Output = T>,
) -> (Instant, T) {
    if let Some(cached) = cached.filter(|(at, _)| at.elapsed() < max_age) {
        return cached;
    }
    let value = read.await;
    (Instant::now(), value)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rocket::futures::FutureExt;
    use rocket::futures::future::join_all;

    use super::*;
    use crate::fixture;
    use crate::model::ManualClock;

    #[rocket::async_test]
    async fn callers_share_one_computation_started_after_their_call() {
        let clock = Arc::new(ManualClock::new(fixture::now()));
        let throttle = Throttle::new(Duration::from_millis(20), Arc::clone(&clock) as _);
        let count = AtomicU32::new(0);
        let compute = || async { count.fetch_add(1, Ordering::SeqCst) };
        let values = join_all((0..20).map(|_| throttle.get(compute()))).await;
        assert_eq!((values[0], &values[1..]), (0, &[1; 19][..]), "the first began before the others called");
        assert_eq!(throttle.last_value(), Some((1, true)));
        assert!(throttle.get(compute()).now_or_never().is_none(), "it waits for the end of the period");
        clock.set(clock.now().saturating_add(Duration::from_millis(20)));
        assert_eq!(throttle.last_value(), Some((1, false)));
        assert_eq!(throttle.get(compute()).now_or_never(), Some(2));
    }
}
