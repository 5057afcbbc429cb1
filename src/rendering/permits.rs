use std::num::NonZeroUsize;
use std::sync::Arc;

use rocket::tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::telemetry::Metrics;

/// Limits the memory of large renderings, and how many renderings run concurrently.
///
/// A rendering is *large* if its estimate is [`LARGE`](Self::LARGE) bytes or more. Each rendering runs in a [`PermitPool`], and
/// waits only for renderings of this pool; a small one waits only for other small ones. A large rendering reserves its estimate
/// in its pool; if the estimate is larger than the pool, the rendering reserves the whole pool and runs alone. A rendering that
/// needs more than its estimate reserves more if memory is free, and otherwise fails.
///
/// Full states and responses for a period hold their [`Memory`] until the last byte is sent, and while they are cached. So the
/// pool for periods has the size of the cache as additional memory: cached responses never take memory from renderings. In total,
/// renderings and responses take at most the limit, the size of the cache, and the excess of a rendering that runs alone.
#[derive(Clone, Debug)]
pub(crate) struct Permits(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pools: [Pool; 3],
    metrics: Metrics,
}

/// The kind of data of a rendering. Each kind has a share of the memory limit for its large renderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermitPool {
    /// Current data (the map and the latest reports): an eighth.
    Current,
    /// Full states for clients that follow changes: a quarter.
    States,
    /// Periods and parts of the map, which clients can choose in any number: the rest.
    Periods,
}

#[derive(Debug)]
struct Queue {
    name: &'static str,
    workers: Arc<Semaphore>,
    max_workers: u32,
    waiting: Semaphore,
}

#[derive(Debug)]
struct Pool {
    small: Queue,
    large: Queue,
    /// The memory of the pool, in units of [`UNIT`].
    memory: Arc<Semaphore>,
    /// The maximum number of units that one rendering reserves.
    limit: u32,
}

/// Permission for a rendering to run.
#[derive(Debug)]
pub(crate) struct Permit {
    _work: OwnedSemaphorePermit,
    memory: OwnedSemaphorePermit,
    limit: u32,
    /// The units that the rendering needs, as far as they are known.
    needed: u32,
}

/// Memory of a pool that a response holds.
#[derive(Debug)]
pub(crate) struct Memory(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many renderings wait for memory or a core")]
pub(crate) struct Busy;

/// Memory is counted in KiB, so that 32 bits suffice.
const UNIT: u64 = 1024;
/// The maximum number of renderings that wait in a queue.
const QUEUE: usize = 256;
/// The maximum number of large renderings of periods that wait. It is lower, because these take longer.
const PERIODS_QUEUE: usize = 16;

impl Permits {
    /// A rendering with an estimate of this many bytes or more is large.
    pub(crate) const LARGE: u64 = 1 << 20;

    /// Returns permits for large renderings of up to `limit` bytes in total, in addition to a cache of up to `cache` bytes.
    ///
    /// Each pool runs about one large rendering per two cores, and two small ones per core.
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

    /// Waits for a permit for a small rendering, first come, first served. Fails if too many are waiting.
    pub(crate) async fn small(&self, pool: PermitPool) -> Result<Permit, Busy> {
        let pool = self.pool(pool);
        self.wait(pool, &pool.small, 0).await
    }

    /// Waits for a permit for a large rendering of this estimate, first come, first served. Fails if too many are waiting.
    pub(crate) async fn large(&self, pool: PermitPool, bytes: u64) -> Result<Permit, Busy> {
        let pool = self.pool(pool);
        self.wait(pool, &pool.large, units(bytes)).await
    }

    /// Waits for memory, then for a core. A rendering over the limit takes all workers. Fails at once if the queue is full.
    async fn wait(&self, pool: &Pool, queue: &Queue, needed: u32) -> Result<Permit, Busy> {
        let limit = pool.limit;
        let workers = if needed > limit { queue.max_workers } else { 1 };
        let wait_metric = self.0.metrics.rendering_waits(queue.name);
        let permit = async {
            let _place = queue.waiting.try_acquire().map_err(|_| Busy)?;
            let memory =
                Arc::clone(&pool.memory).acquire_many_owned(needed.min(limit)).await.map_err(|_| Busy)?;
            let work = Arc::clone(&queue.workers).acquire_many_owned(workers).await.map_err(|_| Busy)?;
            Ok(Permit { _work: work, memory, limit, needed })
        };
        let permit = permit.await;
        drop(wait_metric);
        permit.inspect_err(|Busy| self.0.metrics.rendering_rejected())
    }

    /// Returns how many bytes of full states may stay in memory without a client: half of the pool, to leave room for others.
    #[must_use]
    pub(crate) fn max_idle_states(&self) -> u64 {
        u64::from(self.pool(PermitPool::States).limit) * UNIT / 2
    }

    fn pool(&self, pool: PermitPool) -> &Pool {
        &self.0.pools[pool as usize]
    }
}

impl Queue {
    fn new(name: &'static str, max_workers: u32, waiting: usize) -> Self {
        let workers = Arc::new(Semaphore::new(max_workers as usize));
        Self { name, workers, max_workers, waiting: Semaphore::new(waiting) }
    }
}

impl Permit {
    /// Reserves memory for a rendering that turns out to need this many bytes. Never waits: fails if the memory is not free.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<(), Busy> {
        self.needed = self.needed.max(units(bytes));
        let more = self.needed.min(self.limit) as usize - self.memory.num_permits();
        if self.is_large() && more > 0 {
            let pool = Arc::clone(self.memory.semaphore());
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            self.memory.merge(pool.try_acquire_many_owned(more).map_err(|_| Busy)?);
        }
        Ok(())
    }

    /// Returns the capacity for the body of a large rendering: a little more than half of its memory, because the data that was
    /// read takes about the other half.
    pub(crate) fn body_capacity(&self) -> usize {
        if self.is_large() { self.needed as usize * UNIT as usize / 16 * 9 } else { 0 }
    }

    fn is_large(&self) -> bool {
        self.needed >= units(Permits::LARGE)
    }

    /// Ends the rendering. Returns the memory that its response holds, and frees the rest.
    #[must_use]
    pub(crate) fn finish(self, bytes: usize) -> Memory {
        let Self { mut memory, .. } = self;
        let needed = units(bytes as u64) as usize;
        drop(memory.split(memory.num_permits().saturating_sub(needed)));
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

    /// Returns permits for four cores. The pool of periods has a little more than three quarters of `limit`.
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
    fn a_rendering_larger_than_its_pool_runs_alone() {
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
    fn small_and_current_renderings_do_not_wait_for_periods() {
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
    fn a_response_holds_its_memory_and_no_core() {
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
    fn a_rendering_beyond_its_estimate_reserves_more_or_fails_at_once() {
        let permits = permits(16 * MIB, 0);
        let mut first = period(&permits, 4 * MIB).unwrap();
        let mut small = permits.small(PermitPool::Periods).now_or_never().unwrap().unwrap();
        let is_free = (Ok(()), Ok(()));
        assert_eq!(
            (first.reserve(2 * MIB), small.reserve(MIB - 1)),
            is_free,
            "it has that, or is still small"
        );
        assert_eq!((first.reserve(7 * MIB), small.reserve(5 * MIB)), is_free);
        assert_eq!(first.body_capacity(), 9 * (7 << 20) / 16);
        assert_eq!((first.reserve(8 * MIB), small.reserve(6 * MIB)), (Err(Busy), Err(Busy)));
        drop(small);
        assert_eq!(first.reserve(100 * MIB), Ok(()), "the whole pool");
        let mut current = permits.small(PermitPool::Current).now_or_never().unwrap().unwrap();
        assert_eq!(current.reserve(2 * MIB), Ok(()));
        drop(first);
        assert!(period(&permits, 12 * MIB).is_some());
    }

    #[test]
    fn a_full_cache_does_not_reduce_the_limit() {
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
