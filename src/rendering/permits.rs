use std::num::NonZeroUsize;
use std::sync::Arc;

use rocket::tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::telemetry::Metrics;

/// Limits the memory of large renderings, and how many renderings work at the same time.
///
/// A rendering is *large* if it is estimated to take [`LARGE`](Self::LARGE) bytes or more. Each is in a [`PermitPool`], and waits neither for
/// those of other lanes nor, if it is small, for large ones. A large one reserves in its lane the memory that it is estimated to take; if
/// that is more than the lane has, it reserves all of it, and so runs alone. A rendering that takes more than it has reserved, small or
/// large, reserves the rest if that is free; it never waits for it.
///
/// A full state, and the response for a period, holds its [`Memory`] until the last byte is sent. While it is cached, it counts against
/// the size of the cache, which is added to the memory of the lane. So cached responses never take memory away from renderings, and all
/// of them together take at most the limit plus the size of the cache, and what one that runs alone takes beyond its lane.
#[derive(Clone, Debug)]
pub(crate) struct Permits(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// In the order of [`PermitPool`].
    pools: [Pool; 3],
    metrics: Metrics,
}

/// What a rendering is about, and the share of the limit that large ones have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermitPool {
    /// Current data, that is, the map and the latest reports: an eighth of the limit.
    Current,
    /// Full states for clients that follow changes: a quarter of the limit.
    States,
    /// Periods and parts of the map, which clients can request in any number: the rest of the limit.
    Periods,
}

/// How many renderings work at the same time, and how many wait.
#[derive(Debug)]
struct Queue {
    name: &'static str,
    workers: Arc<Semaphore>,
    /// How many renderings work at the same time.
    most: u32,
    waiting: Semaphore,
}

/// The memory of a lane, and its renderings.
#[derive(Debug)]
struct Pool {
    small: Queue,
    large: Queue,
    /// In units of [`UNIT`].
    memory: Arc<Semaphore>,
    /// How many units one rendering reserves at most.
    limit: u32,
}

/// Permission for a rendering to work.
#[derive(Debug)]
pub(crate) struct Permit {
    _work: OwnedSemaphorePermit,
    memory: OwnedSemaphorePermit,
    /// How many units it reserves at most.
    limit: u32,
    /// How many units the rendering takes, as far as it is known.
    taken: u32,
}

/// Memory within the limit that a response holds.
#[derive(Debug)]
pub(crate) struct Memory(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

/// Too many renderings wait for a permit, or one takes more memory than is free.
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
    /// In each lane, about one large rendering works on two cores, and two small ones on each.
    #[must_use]
    pub(crate) fn new(limit: u64, cache: u64, cores: NonZeroUsize, metrics: Metrics) -> Self {
        let cores = u32::try_from(cores.get()).unwrap_or(u32::MAX);
        let (current, states) = (units(limit / 8), units(limit / 4));
        let periods = units(limit).saturating_sub(current).saturating_sub(states);
        let pool = |name, waiting, limit: u32, cached: u32| {
            let memory = (limit as usize).saturating_add(cached as usize).min(Semaphore::MAX_PERMITS);
            let small = Queue::new("small", cores.saturating_mul(2), QUEUE);
            let large = Queue::new(name, cores.div_ceil(2), waiting);
            Pool { small, large, memory: Arc::new(Semaphore::new(memory)), limit }
        };
        Self(Arc::new(Inner {
            pools: [
                pool("current", QUEUE, current, 0),
                pool("states", QUEUE, states, 0),
                pool("periods", PERIODS_QUEUE, periods, units(cache)),
            ],
            metrics,
        }))
    }

    /// Waits, in the order of the calls, for a permit for a small rendering.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn small(&self, lane: PermitPool) -> Result<Permit, Busy> {
        let pool = self.pool(lane);
        self.wait(pool, &pool.small, 0).await
    }

    /// Waits, in the order of the calls, for a permit for a large rendering that is estimated to take this many bytes.
    ///
    /// # Errors
    ///
    /// [`Busy`] if too many are already waiting.
    pub(crate) async fn large(&self, lane: PermitPool, bytes: u64) -> Result<Permit, Busy> {
        let pool = self.pool(lane);
        self.wait(pool, &pool.large, units(bytes)).await
    }

    async fn wait(&self, pool: &Pool, queue: &Queue, taken: u32) -> Result<Permit, Busy> {
        let limit = pool.limit;
        let workers = if taken > limit { queue.most } else { 1 };
        let waiting = self.0.metrics.rendering_waits(queue.name);
        let permit = async {
            let _place = queue.waiting.try_acquire().map_err(|_| Busy)?;
            // The semaphores are never closed.
            let memory =
                Arc::clone(&pool.memory).acquire_many_owned(taken.min(limit)).await.map_err(|_| Busy)?;
            let work = Arc::clone(&queue.workers).acquire_many_owned(workers).await.map_err(|_| Busy)?;
            Ok(Permit { _work: work, memory, limit, taken })
        };
        let permit = permit.await;
        drop(waiting);
        permit.inspect_err(|Busy| self.0.metrics.rendering_rejected())
    }

    /// Returns how many bytes of full states may stay without a client that needs them: half of what they may take, so that
    /// others can be encoded.
    #[must_use]
    pub(crate) fn room_for_states(&self) -> u64 {
        u64::from(self.pool(PermitPool::States).limit) * UNIT / 2
    }

    fn pool(&self, lane: PermitPool) -> &Pool {
        &self.0.pools[lane as usize]
    }
}

impl Queue {
    fn new(name: &'static str, most: u32, waiting: usize) -> Self {
        let workers = Arc::new(Semaphore::new(most as usize));
        Self { name, workers, most, waiting: Semaphore::new(waiting) }
    }
}

impl Permit {
    /// Reserves as much memory as the rendering takes by now, if that is more than it has reserved. Never waits.
    ///
    /// # Errors
    ///
    /// [`Busy`] if so much is not free.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), Busy> {
        self.taken = self.taken.max(units(bytes));
        let more = self.taken.min(self.limit) as usize - self.memory.num_permits();
        if self.is_large() && more > 0 {
            let pool = Arc::clone(self.memory.semaphore());
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            self.memory.merge(pool.try_acquire_many_owned(more).map_err(|_| Busy)?);
        }
        Ok(())
    }

    /// Returns for how many bytes of a body a large rendering has room: half of what it takes, since what it reads takes as much, and a
    /// little more.
    pub(crate) fn room(&self) -> usize {
        if self.is_large() { self.taken as usize * UNIT as usize / 16 * 9 } else { 0 }
    }

    fn is_large(&self) -> bool {
        self.taken >= units(Permits::LARGE)
    }

    /// Ends the work. If its response has [`LARGE`](Permits::LARGE) bytes or more, it holds the memory that it takes.
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
        permits.large(PermitPool::Periods, bytes).now_or_never().map(Result::unwrap)
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
        let small: Vec<_> =
            (0..8).map(|_| permits.small(PermitPool::Periods).now_or_never().unwrap().unwrap()).collect();
        assert!(permits.small(PermitPool::Periods).now_or_never().is_none());
        assert!(permits.small(PermitPool::Current).now_or_never().is_some());
        let current = permits.large(PermitPool::Current, 100 * MIB).now_or_never().unwrap().unwrap();
        assert!(permits.large(PermitPool::Current, MIB).now_or_never().is_none());
        drop((small, current));
        assert!(permits.small(PermitPool::Periods).now_or_never().is_some());
        assert!(permits.large(PermitPool::Current, MIB).now_or_never().is_some());
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
    fn a_rendering_that_takes_more_than_estimated_reserves_it_or_is_refused_at_once() {
        let permits = permits(16 * MIB, 0);
        let mut first = period(&permits, 4 * MIB).unwrap();
        let mut small = permits.small(PermitPool::Periods).now_or_never().unwrap().unwrap();
        let is_free = (Ok(()), Ok(()));
        assert_eq!((first.grow(2 * MIB), small.grow(MIB - 1)), is_free, "it has that, or is still small");
        assert_eq!((first.grow(7 * MIB), small.grow(5 * MIB)), is_free);
        assert_eq!(first.room(), 9 * (7 << 20) / 16);
        assert_eq!((first.grow(8 * MIB), small.grow(6 * MIB)), (Err(Busy), Err(Busy)));
        drop(small);
        assert_eq!(first.grow(100 * MIB), Ok(()), "all that the lane has");
        let mut current = permits.small(PermitPool::Current).now_or_never().unwrap().unwrap();
        assert_eq!(current.grow(2 * MIB), Ok(()));
        drop(first);
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
        let mut waiting: Vec<_> =
            (0..16).map(|_| Box::pin(permits.large(PermitPool::Periods, MIB))).collect();
        assert!(waiting.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        assert_eq!(permits.large(PermitPool::Periods, MIB).now_or_never().unwrap().unwrap_err(), Busy);
        let text = metrics.text().unwrap();
        assert!(text.contains("siaga_renderings_rejected_total 1\n"), "{text}");
        assert!(text.contains("siaga_renderings_waiting{lane=\"periods\"} 16\n"), "{text}");
        drop(waiting.pop());
        assert!(permits.large(PermitPool::Periods, MIB).now_or_never().is_none(), "its place is free");
    }
}
