use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::transport::TIMEOUT;
use crate::auth::{RandomUnavailable, random};
use crate::model::{Clock, Timestamp};
use crate::stores::{Store, StoreError, WebhookState};

/// The name under which the store keeps the lease. No call can have it.
pub(super) const NAME: &str = "*";
/// The holder if there can be no other server.
const ONLY_SERVER: &str = "the only server";
/// How long a server sends without renewing its lease.
const LENGTH: Duration = Duration::from_secs(30);

/// Which server sends, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LeaseRecord {
    holder: String,
    /// In milliseconds since 1970.
    until: i64,
}

/// What lets one of several servers send: it renews its lease every few seconds, and the others wait for its end.
#[derive(Debug)]
pub(super) struct Lease {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Identifies this server.
    holder: String,
    held: Mutex<LeaseState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LeaseState {
    /// Until when this server sends.
    until: Option<Timestamp>,
    version: u64,
    /// How often this server has taken the lease, or found it disturbed.
    term: u64,
}

impl Lease {
    /// Makes the lease of a server. If the store serves no other one, it takes over its lease from before a restart at once.
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        is_only_server: bool,
    ) -> Result<Self, RandomUnavailable> {
        let holder = if is_only_server { ONLY_SERVER.to_owned() } else { random::hex::<16>()? };
        Ok(Self { store, clock, holder, held: Mutex::default() })
    }

    /// Returns the number of the term if this server may send a request now: there is time for it before another server can
    /// send. The checkpoints of calls must be read in each term.
    pub(super) fn epoch(&self) -> Option<u64> {
        let held = self.held();
        let enough = held.until.is_some_and(|until| until > self.clock.now().after(TIMEOUT));
        enough.then_some(held.term)
    }

    /// Takes or renews the lease, with one query if another server has it, or if this one has it and nothing was changed by a
    /// command. Returns what is kept of calls, if it was read.
    ///
    /// # Errors
    ///
    /// If the store fails. Then the lease ends by itself.
    pub(super) async fn step(&self) -> Result<Option<BTreeMap<String, WebhookState>>, StoreError> {
        let now = self.clock.now();
        let held = *self.held();
        if held.until.is_some_and(|until| until > now) && self.put(held.version, now.after(LENGTH)).await? {
            return Ok(None);
        }
        let kept = self.store.webhook_states().await?;
        let found = kept.get(NAME);
        let holder: Option<LeaseRecord> = found.and_then(|found| serde_json::from_str(&found.text).ok());
        // A lease that ends later than it may last was taken when a clock was ahead.
        let ends = |of: &LeaseRecord| {
            Timestamp::from_millis(of.until).filter(|until| *until <= now.after(2 * LENGTH))
        };
        let is_free =
            holder.is_none_or(|of| of.holder == self.holder || ends(&of).is_none_or(|until| until <= now));
        let version = found.map_or(0, |found| found.version);
        if is_free && self.put(version, now.after(LENGTH)).await? {
            self.held().term += 1;
        } else {
            self.held().until = None;
        }
        Ok(Some(kept))
    }

    /// Ends the lease, so that another server goes on at once.
    pub(super) async fn release(&self) -> Result<(), StoreError> {
        let held = *self.held();
        if held.until.is_some() {
            self.put(held.version, self.clock.now()).await?;
            self.held().until = None;
        }
        Ok(())
    }

    /// Makes this server the holder, if the lease still has a version. Returns whether it did.
    async fn put(&self, version: u64, until: Timestamp) -> Result<bool, StoreError> {
        let holder = LeaseRecord { holder: self.holder.clone(), until: until.to_utc().timestamp_millis() };
        let text = serde_json::json!(holder).to_string();
        let is_kept = self.store.put_webhook_state(NAME, version, &text).await?;
        if is_kept {
            let mut held = self.held();
            (held.until, held.version) = (Some(until), version + 1);
        }
        Ok(is_kept)
    }

    fn held(&self) -> MutexGuard<'_, LeaseState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
