use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rocket::tokio::sync::Mutex;

/// The time after which a value is evicted, even if its version is the same.
const LIFETIME: Duration = Duration::from_mins(1);
/// The maximum number of cached values, in addition to those in progress.
const CAPACITY: usize = 1_024;

/// Caches values by key and version of their data. Concurrent callers with the same key compute the value once; callers with
/// different keys never wait for each other.
#[derive(Debug)]
pub(super) struct PageCache<K, R, V> {
    max_age: Duration,
    slots: std::sync::Mutex<HashMap<K, Arc<CacheSlot<R, V>>>>,
}

type CacheSlot<R, V> = Mutex<Option<CachedValue<R, V>>>;

#[derive(Debug)]
struct CachedValue<R, V> {
    at: Instant,
    version: R,
    value: V,
}

impl<K: Eq + Hash, R: PartialEq, V: Clone> PageCache<K, R, V> {
    /// Returns a cache that reuses a value of an older version for `max_age`.
    pub(super) fn new(max_age: Duration) -> Self {
        Self { max_age, slots: std::sync::Mutex::default() }
    }

    /// Returns the cached value if its version matches or it is younger than `max_age`; otherwise calls `make`, whose errors are
    /// not cached.
    pub(super) async fn get<E>(
        &self,
        key: K,
        version: R,
        make: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        let slot = self.slot(key);
        let mut slot = slot.lock().await;
        if let Some(known) = &*slot
            && (known.at.elapsed() < self.max_age || known.version == version)
        {
            return Ok(known.value.clone());
        }
        let value = make.await?;
        *slot = Some(CachedValue { at: Instant::now(), version, value: value.clone() });
        Ok(value)
    }

    /// Returns the slot of a key. Evicts expired values, or all values if there are too many.
    fn slot(&self, key: K) -> Arc<CacheSlot<R, V>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = slots.len() >= CAPACITY;
        slots.retain(|_, slot| {
            let Ok(slot) = slot.try_lock() else { return true };
            !is_full && slot.as_ref().is_some_and(|cached| cached.at.elapsed() < LIFETIME)
        });
        Arc::clone(slots.entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rocket::futures::FutureExt;
    use rocket::futures::future::{pending, ready};

    use super::*;

    #[rocket::async_test]
    async fn a_value_is_computed_once_and_never_waits_for_another_key() {
        let cache = PageCache::new(Duration::ZERO);
        let computed = |value: &'static str| ready(Ok::<_, Infallible>(value));
        let mut slow = Box::pin(cache.get("slow", 1, pending::<Result<&str, Infallible>>()));
        assert!((&mut slow).now_or_never().is_none());
        assert_eq!(cache.get("other", 1, computed("first")).now_or_never(), Some(Ok("first")));
        assert!(cache.get("slow", 1, computed("second")).now_or_never().is_none(), "it waits for the first");
        assert_eq!(cache.get("other", 1, computed("second")).now_or_never(), Some(Ok("first")));
        assert_eq!(cache.get("other", 2, computed("third")).now_or_never(), Some(Ok("third")));
        drop(slow);
        assert_eq!(cache.get("slow", 1, computed("second")).now_or_never(), Some(Ok("second")));
    }
}
