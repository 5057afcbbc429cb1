use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::transport::TIMEOUT;
use crate::auth::{RandomUnavailable, random};
use crate::model::Clock;
use crate::stores::{Store, StoreError, WebhookState};

/// The name of the lease in the store. No webhook can have this name.
pub(super) const NAME: &str = "*";
/// The holder if no other server uses the store.
const ONLY_SERVER: &str = "the only server";
const LENGTH: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LeaseRecord {
    holder: String,
    /// When the lease expires by the clock of the holder, in milliseconds since 1970; 0 if the holder has released it. Servers of
    /// earlier versions compare it with their clocks.
    until: i64,
}

/// Lets only one of several servers send. Its holder renews it every few seconds. Another server takes it when it has not seen a
/// renewal for [`LENGTH`].
///
/// Every server measures this with its own monotonic time, because the clocks of servers can differ and can be set back. So a
/// server stops sending before another one can take the lease.
#[derive(Debug)]
pub(crate) struct Lease {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    holder: String,
    state: Mutex<LeaseState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LeaseState {
    /// When the lease of this server expires; `None` if this server does not hold it.
    until: Option<Instant>,
    version: u64,
    /// Fencing token: the number of times that this server has acquired the lease, including after a command invalidated it.
    epoch: u64,
    /// The version that this server last saw in the store, and when it first saw that version.
    seen: Option<(u64, Instant)>,
}

impl Lease {
    /// Creates a lease. With `is_only_server`, the holder is the same after a restart, so the server continues at once.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        is_only_server: bool,
    ) -> Result<Self, RandomUnavailable> {
        let holder = if is_only_server { ONLY_SERVER.to_owned() } else { random::hex::<16>()? };
        Ok(Self { store, clock, holder, state: Mutex::default() })
    }

    /// Returns the epoch if the lease lasts longer than one request. Checkpoints must be read again in each epoch.
    pub(crate) fn epoch(&self) -> Option<u64> {
        let lease = self.state();
        let is_valid = lease.until.is_some_and(|until| until > self.clock.monotonic() + TIMEOUT);
        is_valid.then_some(lease.epoch)
    }

    /// Acquires or renews the lease. Costs one query if this server or another holds it, unless a command has invalidated it.
    /// Returns the stored states if they were read. If the store fails, the lease expires.
    pub(crate) async fn acquire_or_renew(
        &self,
    ) -> Result<Option<BTreeMap<String, WebhookState>>, StoreError> {
        let own_lease = *self.state();
        if own_lease.until.is_some_and(|until| until > self.clock.monotonic())
            && self.put(own_lease.version, true).await?
        {
            return Ok(None);
        }
        let states = self.store.webhook_states().await?;
        // After the read, which can be slow: a version was not seen before it was read.
        let now = self.clock.monotonic();
        let stored = states.get(NAME);
        let record: Option<LeaseRecord> = stored.and_then(|stored| serde_json::from_str(&stored.text).ok());
        let version = stored.map_or(0, |stored| stored.version);
        let seen_at = self.seen_at(version, now);
        let is_free = record.is_none_or(|record| {
            record.holder == self.holder || record.until == 0 || now.duration_since(seen_at) >= LENGTH
        });
        if is_free && self.put(version, true).await? {
            self.state().epoch += 1;
        } else {
            self.state().until = None;
        }
        Ok(Some(states))
    }

    fn seen_at(&self, version: u64, now: Instant) -> Instant {
        let mut lease = self.state();
        match lease.seen {
            Some((seen, at)) if seen == version => at,
            _ => {
                lease.seen = Some((version, now));
                now
            }
        }
    }

    /// Releases the lease if this server holds it, so that another server need not wait.
    pub(super) async fn release(&self) -> Result<(), StoreError> {
        let lease = *self.state();
        if lease.until.is_some() {
            self.put(lease.version, false).await?;
            self.state().until = None;
        }
        Ok(())
    }

    /// Stores this server as the holder of the lease, or releases it, if the stored version is still `version`. Returns whether it
    /// did.
    async fn put(&self, version: u64, holds: bool) -> Result<bool, StoreError> {
        // Read before the write, so that the lease expires here before another server can take it.
        let (now, until) = (self.clock.monotonic(), self.clock.now().saturating_add(LENGTH));
        let until = if holds { until.to_utc().timestamp_millis() } else { 0 };
        let text = serde_json::json!(LeaseRecord { holder: self.holder.clone(), until }).to_string();
        let is_stored = self.store.put_webhook_state(NAME, version, &text).await?;
        if is_stored {
            let mut lease = self.state();
            (lease.until, lease.version) = (Some(now + LENGTH), version + 1);
        }
        Ok(is_stored)
    }

    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::model::{ManualClock, Timestamp};
    use crate::stores::memory::MemoryStore;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    #[rocket::async_test]
    async fn a_lease_stored_by_an_earlier_version_is_respected_until_it_is_not_renewed() {
        let clock = Arc::new(ManualClock::new(at(1_000_000)));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(fixture::dataset(), Arc::clone(&clock) as _));
        let stored = r#"{"holder":"another server","until":1030000}"#;
        assert!(store.put_webhook_state("*", 0, stored).await.unwrap());
        let lease = Lease::new(Arc::clone(&store), Arc::clone(&clock) as _, true).unwrap();
        for seconds in [0, 10, 29] {
            clock.set(at(1_000_000 + seconds * 1_000));
            lease.acquire_or_renew().await.unwrap();
            assert_eq!(lease.epoch(), None);
        }
        clock.set(at(1_030_000));
        lease.acquire_or_renew().await.unwrap();
        assert_eq!(lease.epoch(), Some(1));
        let now_stored = store.webhook_states().await.unwrap().remove("*").unwrap().text;
        assert_eq!(now_stored, r#"{"holder":"the only server","until":1060000}"#);
    }

    #[rocket::async_test]
    async fn a_clock_that_is_wrong_neither_takes_nor_prolongs_a_lease() {
        let clocks = [1_000_000, 9_000_000].map(|now| Arc::new(ManualClock::new(at(now))));
        let store: Arc<dyn Store> =
            Arc::new(MemoryStore::new(fixture::dataset(), Arc::clone(&clocks[0]) as _));
        let lease = |clock: &Arc<ManualClock>| Lease::new(Arc::clone(&store), Arc::clone(clock) as _, false);
        let [first, second] = [lease(&clocks[0]).unwrap(), lease(&clocks[1]).unwrap()];
        first.acquire_or_renew().await.unwrap();
        second.acquire_or_renew().await.unwrap();
        assert_eq!((first.epoch(), second.epoch()), (Some(1), None), "the second clock is two hours ahead");
        clocks[0].set(at(1_020_000));
        clocks[0].set(at(500_000));
        assert_eq!(first.epoch(), None, "20 seconds have passed, though the clock was set back");
    }
}
