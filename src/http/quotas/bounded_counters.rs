use std::sync::Arc;
use std::time::Duration;

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};

use super::Client;

/// How many addresses are counted individually. Each takes a few tens of bytes.
const MAX_ADDRESSES: usize = 200_000;
const MAX_NETWORKS: usize = 70_000;

/// The counts of clients. Beyond the limits, new clients are counted by their network. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedCounters(Arc<HashMapStateStore<Client>>);

impl BoundedCounters {
    /// Returns the key under which the client is counted. Once the limit of addresses is reached, new clients are counted by
    /// their network; once the limit of networks is reached too, all other clients share one count.
    fn key_for(&self, client: &Client) -> Client {
        let (mut key, counts) = (client.clone(), self.0.lock());
        for limit in [MAX_ADDRESSES, MAX_ADDRESSES + MAX_NETWORKS] {
            if key.is_credential() || counts.contains_key(&key) || counts.len() < limit {
                return key;
            }
            key = key.wider();
        }
        Client::Rest
    }

    /// Refunds `time` of the quota that a client has used, at most all of it. Does nothing if the client has no count.
    pub(super) fn refund(&self, client: &Client, time: Duration) {
        let key = self.counted_key(client);
        let subtract_time =
            |used: Option<Nanos>| used.map(|used| ((), used.saturating_sub(time.into()))).ok_or(());
        // Fails only if a sweep has dropped the count meanwhile. Then the client has its whole quota again.
        let _ = key.map(|key| self.0.measure_and_replace(&key, subtract_time));
    }

    fn counted_key(&self, client: &Client) -> Option<Client> {
        let wider = client.wider();
        let keys = [client.clone(), wider.clone(), wider.wider()];
        let counts = self.0.lock();
        keys.into_iter().find(|key| counts.contains_key(key))
    }
}

impl StateStore for BoundedCounters {
    type Key = Client;

    fn measure_and_replace<T, F, E>(&self, client: &Client, change: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        self.0.measure_and_replace(&self.key_for(client), change)
    }
}

impl ShrinkableKeyedStateStore<Client> for BoundedCounters {
    fn retain_recent(&self, drop_below: Nanos) {
        self.0.retain_recent(drop_below);
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
