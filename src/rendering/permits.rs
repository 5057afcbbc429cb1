use std::num::NonZeroUsize;
use std::sync::Arc;

use rocket::tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::telemetry::Metrics;

/// Limits the memory that large renderings take together, and how many renderings work at the same time.
///
/// A rendering is *large* if it is estimated to take [`LARGE`](Self::LARGE) bytes or more. There are four lanes, which do not
/// wait for each other: small renderings; large renderings of current data, that is, the map and the latest reports; full states
/// for clients that follow changes; and large renderings of periods and parts of the map, which clients can request in any
/// number. An eighth of the limit is for current data, a quarter for full states, the rest for periods. A rendering needs as much memory of its lane as it is estimated to take; if that is more than the lane has, it runs
/// there alone.
///
/// A full state, and the response for a period, holds its [`Memory`] until the last byte is sent. While it is cached, it counts against the size
/// of the cache, which is added to the memory of the lane. So cached responses never take memory away from renderings, and all
/// of them together take at most the limit plus the size of the cache.
#[derive(Clone, Debug)]
pub(crate) struct Permits(Arc<Lanes>);

#[derive(Debug)]
struct Lanes {
    small: Lane,
    current: Lane,
    states: Lane,
    periods: Lane,
    metrics: Metrics,
}

#[derive(Debug)]
struct Lane {
    name: &'static str,
    /// In units of [`UNIT`].
    memory: Arc<Semaphore>,
    /// How many units one rendering takes at most.
    limit: u32,
    workers: Arc<Semaphore>,
    /// How many renderings work at the same time.
    most: u32,
    queue: Semaphore,
}

/// Permission for a rendering to work.
#[derive(Debug)]
pub(crate) struct Permit {
    _work: OwnedSemaphorePermit,
    memory: OwnedSemaphorePermit,
}

/// Memory within the limit that a response holds.
#[derive(Debug)]
pub(crate) struct Memory(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

/// Too many renderings wait for a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many renderings wait for memory or a core")]
pub(crate) struct Busy;

/// Memory is counted in KiB, so that 32 bits are enough.
const UNIT: u64 = 1024;
/// How many renderings may wait in a lane.
const QUEUE: usize = 256;
/// The same for large renderings of periods, which take longer.
const PERIODS_QUEUE: usize = 16;

impl Permits {
    /// A rendering is large if it is estimated to take this many bytes or more.
    pub(crate) const LARGE: u64 = 1 << 20;

    /// Makes permits for large renderings of up to `limit` bytes together, in addition to a cache of up to `cache` bytes, on
    /// `cores` cores.
    ///
    /// About one large rendering works on each core, and two small ones.
    #[must_use]
    pub(crate) fn new(limit: u64, cache: u64, cores: NonZeroUsize, metrics: Metrics) -> Self {
        let cores = u32::try_from(cores.get()).unwrap_or(u32::MAX);
        let (current, states) = (units(limit / 8), units(limit / 4));
        let periods = units(limit).saturating_sub(current).saturating_sub(states);
        Self(Arc::new(Lanes {
            small: Lane::new("small", 0, 0, cores.saturating_mul(2), QUEUE),
            current: Lane::new("current", current, 0, cores.div_ceil(2), QUEUE),
            states: Lane::new("states", states, 0, cores.div_ceil(2), QUEUE),
            periods: Lane::new("periods", periods, units(cache), cores.div_ceil(2), PERIODS_QUEUE),
            metrics,
        }))
    }

    /// Waits, in the order of the calls, for a permit for a small rendering.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn small(&self) -> Result<Permit, Busy> {
        self.enter(&self.0.small, 0).await
    }

    /// Waits, in the order of the calls, for a permit for a large rendering of current data that is estimated to take this many
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn current(&self, bytes: u64) -> Result<Permit, Busy> {
        self.enter(&self.0.current, bytes).await
    }

    /// Waits, in the order of the calls, for a permit for a full state that is estimated to take this many bytes.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn state(&self, bytes: u64) -> Result<Permit, Busy> {
        self.enter(&self.0.states, bytes).await
    }

    /// Returns how many bytes of full states may stay without a client that needs them: half of what they may take, so that
    /// others can be encoded.
    #[must_use]
    pub(crate) fn room_for_states(&self) -> u64 {
        u64::from(self.0.states.limit) * UNIT / 2
    }

    /// Waits, in the order of the calls, for a permit for a large rendering of a period that is estimated to take this many
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn period(&self, bytes: u64) -> Result<Permit, Busy> {
        self.enter(&self.0.periods, bytes).await
    }

    async fn enter(&self, lane: &Lane, bytes: u64) -> Result<Permit, Busy> {
        let waiting = self.0.metrics.rendering_waits(lane.name);
        let permit = lane.enter(units(bytes)).await;
        drop(waiting);
        permit.inspect_err(|Busy| self.0.metrics.rendering_rejected())
    }
}

impl Lane {
    /// Makes a lane of `limit` units for renderings, and `cached` more units for their cached responses.
    fn new(name: &'static str, limit: u32, cached: u32, most: u32, queue: usize) -> Self {
        let memory = (limit as usize).saturating_add(cached as usize).min(Semaphore::MAX_PERMITS);
        Self {
            name,
            memory: Arc::new(Semaphore::new(memory)),
            limit,
            workers: Arc::new(Semaphore::new(most as usize)),
            most,
            queue: Semaphore::new(queue),
        }
    }

    async fn enter(&self, wanted: u32) -> Result<Permit, Busy> {
        let _place = self.queue.try_acquire().map_err(|_| Busy)?;
        let workers = if wanted > self.limit { self.most } else { 1 };
        let memory = Arc::clone(&self.memory).acquire_many_owned(wanted.min(self.limit));
        // The semaphores are never closed.
        let memory = memory.await.map_err(|_| Busy)?;
        let work = Arc::clone(&self.workers).acquire_many_owned(workers).await.map_err(|_| Busy)?;
        Ok(Permit { _work: work, memory })
    }
}

impl Permit {
    /// Ends the work. If it was a large rendering, its response of this many bytes holds the memory that it takes.
    #[must_use]
    pub(crate) fn finish(self, bytes: usize) -> Memory {
        let Self { mut memory, .. } = self;
        let taken = units(bytes as u64) as usize;
        drop(memory.split(memory.num_permits().saturating_sub(taken)));
        Memory(memory)
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use rocket::futures::FutureExt;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Four cores. Periods have five eighths of the whole, a little more than three quarters of `limit`.
    fn permits(limit: u64, cache: u64) -> Permits {
        Permits::new(limit / 4 * 5, cache, NonZeroUsize::new(4).unwrap(), Metrics::default())
    }

    fn period(permits: &Permits, bytes: u64) -> Option<Permit> {
        permits.period(bytes).now_or_never().map(Result::unwrap)
    }

    #[test]
    fn large_renderings_share_the_memory_and_the_cores() {
        let permits = permits(16 * MIB, 0);
        let first = period(&permits, 4 * MIB).unwrap();
        let second = period(&permits, 4 * MIB).unwrap();
        assert!(period(&permits, 2 * MIB).is_none(), "no core is left");
        drop(first);
        assert!(period(&permits, 9 * MIB).is_none(), "no memory is left");
        assert!(period(&permits, 8 * MIB).is_some());
        drop(second);
    }

    #[test]
    fn what_is_heavier_than_the_limit_runs_alone() {
        let permits = permits(16 * MIB, 5 * MIB);
        let light = period(&permits, 2 * MIB).unwrap();
        assert!(period(&permits, 13 * MIB).is_none());
        drop(light);
        let heavy = period(&permits, 1_000 * MIB).unwrap();
        assert!(period(&permits, MIB).is_none());
        drop(heavy);
        assert!(period(&permits, MIB).is_some());
    }

    #[test]
    fn neither_small_renderings_nor_what_is_current_waits_for_periods() {
        let permits = permits(16 * MIB, 0);
        let _heavy = period(&permits, 100 * MIB).unwrap();
        let small: Vec<_> = (0..8).map(|_| permits.small().now_or_never().unwrap().unwrap()).collect();
        assert!(permits.small().now_or_never().is_none());
        let current = permits.current(100 * MIB).now_or_never().unwrap().unwrap();
        assert!(permits.current(MIB).now_or_never().is_none());
        drop((small, current));
        assert!(permits.small().now_or_never().is_some());
        assert!(permits.current(MIB).now_or_never().is_some());
    }

    #[test]
    fn a_response_holds_as_much_memory_as_it_takes_and_no_core() {
        let permits = permits(16 * MIB, 0);
        let response = period(&permits, 12 * MIB).unwrap().finish(4 << 20);
        let others = [period(&permits, 4 * MIB), period(&permits, 4 * MIB)];
        assert!(others.iter().all(Option::is_some));
        drop(others);
        assert!(period(&permits, 9 * MIB).is_none());
        drop(response);
        assert!(period(&permits, 12 * MIB).is_some());
    }

    #[test]
    fn a_full_cache_leaves_the_limit_to_renderings() {
        let permits = permits(16 * MIB, 8 * MIB);
        let _cached = period(&permits, 8 * MIB).unwrap().finish(8 << 20);
        assert!(period(&permits, 12 * MIB).is_some());
    }

    #[test]
    fn beyond_a_short_queue_renderings_are_rejected_and_counted() {
        let metrics = Metrics::default();
        let permits = Permits::new(16 * MIB, 0, NonZeroUsize::MIN, metrics.clone());
        let _working = period(&permits, MIB).unwrap();
        let mut waiting: Vec<_> = (0..16).map(|_| Box::pin(permits.period(MIB))).collect();
        assert!(waiting.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        assert_eq!(permits.period(MIB).now_or_never().unwrap().unwrap_err(), Busy);
        let text = metrics.text().unwrap();
        assert!(text.contains("siaga_renderings_rejected_total 1\n"), "{text}");
        assert!(text.contains("siaga_renderings_waiting{lane=\"periods\"} 16\n"), "{text}");
        drop(waiting.pop());
        assert!(permits.period(MIB).now_or_never().is_none(), "its place is free");
    }
}
