use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::transport::TIMEOUT;
use crate::auth::{RandomUnavailable, random};
use crate::model::{Clock, Timestamp};
use crate::stores::{Store, StoreError, WebhookState};

/// The name of the lease in the store. No webhook can have this name.
pub(super) const NAME: &str = "*";
/// The holder if no other server uses the store.
const ONLY_SERVER: &str = "the only server";
const LENGTH: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LeaseRecord {
    holder: String,
    /// When the lease expires, in milliseconds since 1970.
    until: i64,
}

/// Lets only one of several servers send. Its holder renews it every few seconds; another server takes over when it expires.
#[derive(Debug)]
pub(super) struct Lease {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    holder: String,
    state: Mutex<LeaseState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LeaseState {
    /// When the lease expires; `None` if another server holds it.
    until: Option<Timestamp>,
    version: u64,
    /// Fencing token: the number of times that this server has acquired the lease, including after a command invalidated it.
    epoch: u64,
}

impl Lease {
    /// Creates a lease. With `is_only_server`, the holder is the same after a restart, so the server continues immediately.
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        is_only_server: bool,
    ) -> Result<Self, RandomUnavailable> {
        let holder = if is_only_server { ONLY_SERVER.to_owned() } else { random::hex::<16>()? };
        Ok(Self { store, clock, holder, state: Mutex::default() })
    }

    /// Returns the epoch if the lease outlasts the timeout of a request. Checkpoints must be read again in each epoch.
    pub(super) fn epoch(&self) -> Option<u64> {
        let lease = self.state();
        let is_valid = lease.until.is_some_and(|until| until > self.clock.now().saturating_add(TIMEOUT));
        is_valid.then_some(lease.epoch)
    }

    /// Acquires or renews the lease. Costs one query if this server or another holds it, unless a command has invalidated it.
    /// Returns the stored states if they were read. If the store fails, the lease expires.
    pub(super) async fn acquire_or_renew(
        &self,
    ) -> Result<Option<BTreeMap<String, WebhookState>>, StoreError> {
        let now = self.clock.now();
        let own_lease = *self.state();
        if own_lease.until.is_some_and(|until| until > now)
            && self.put(own_lease.version, now.saturating_add(LENGTH)).await?
        {
            return Ok(None);
        }
        let states = self.store.webhook_states().await?;
        let stored = states.get(NAME);
        let holder: Option<LeaseRecord> = stored.and_then(|stored| serde_json::from_str(&stored.text).ok());
        // A lease that expires too late was acquired while a clock was ahead, so it counts as free.
        let expiry = |lease: &LeaseRecord| {
            Timestamp::from_millis(lease.until).filter(|until| *until <= now.saturating_add(2 * LENGTH))
        };
        let is_free = holder.is_none_or(|lease| {
            lease.holder == self.holder || expiry(&lease).is_none_or(|until| until <= now)
        });
        let version = stored.map_or(0, |stored| stored.version);
        if is_free && self.put(version, now.saturating_add(LENGTH)).await? {
            self.state().epoch += 1;
        } else {
            self.state().until = None;
        }
        Ok(Some(states))
    }

    /// Lets the lease expire now if this server holds it, so that another server need not wait.
    pub(super) async fn release(&self) -> Result<(), StoreError> {
        let lease = *self.state();
        if lease.until.is_some() {
            self.put(lease.version, self.clock.now()).await?;
            self.state().until = None;
        }
        Ok(())
    }

    /// Makes this server the holder if the stored version is still `version`, otherwise returns `false`.
    async fn put(&self, version: u64, until: Timestamp) -> Result<bool, StoreError> {
        let holder = LeaseRecord { holder: self.holder.clone(), until: until.to_utc().timestamp_millis() };
        let text = serde_json::json!(holder).to_string();
        let is_stored = self.store.put_webhook_state(NAME, version, &text).await?;
        if is_stored {
            let mut lease = self.state();
            (lease.until, lease.version) = (Some(until), version + 1);
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
    use crate::model::ManualClock;
    use crate::stores::memory::MemoryStore;

    #[rocket::async_test]
    async fn a_lease_stored_by_an_earlier_version_is_respected_until_it_expires() {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_000_000).unwrap()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(fixture::dataset(), Arc::clone(&clock) as _));
        let stored = r#"{"holder":"another server","until":1030000}"#;
        assert!(store.put_webhook_state("*", 0, stored).await.unwrap());
        let lease = Lease::new(Arc::clone(&store), Arc::clone(&clock) as _, true).unwrap();
        lease.acquire_or_renew().await.unwrap();
        assert_eq!(lease.epoch(), None);
        clock.set(Timestamp::from_millis(1_030_000).unwrap());
        lease.acquire_or_renew().await.unwrap();
        assert_eq!(lease.epoch(), Some(1));
        let now_stored = store.webhook_states().await.unwrap().remove("*").unwrap().text;
        assert_eq!(now_stored, r#"{"holder":"the only server","until":1060000}"#);
    }
}
