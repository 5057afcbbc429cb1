use std::sync::atomic::{AtomicUsize, Ordering};

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::{DashMapStateStore, ShrinkableKeyedStateStore};

use super::Client;

/// How many addresses are counted individually. Each takes a few tens of bytes.
const MOST: usize = 200_000;
/// How many wider networks are counted in addition.
const MOST_NETWORKS: usize = 70_000;

/// The counts of clients. If there are too many clients, new ones are counted by their networks.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    kept: DashMapStateStore<Client>,
    /// How many counts there are. The map itself can only count them shard by shard.
    count: AtomicUsize,
}

impl Bounded {
    /// Returns the client, or the network in whose place it is counted.
    fn place(&self, client: &Client) -> Client {
        let mut place = client.clone();
        for most in [MOST, MOST + MOST_NETWORKS] {
            if place.is_known() || self.kept.contains_key(&place) {
                return place;
            }
            if self.count.load(Ordering::Relaxed) < most {
                self.count.fetch_add(1, Ordering::Relaxed);
                return place;
            }
            place = place.wider();
        }
        Client::Rest
    }

    fn recount(&self) {
        self.count.store(self.kept.len(), Ordering::Relaxed);
    }
}

impl StateStore for Bounded {
    type Key = Client;

    fn measure_and_replace<T, F, E>(&self, client: &Client, change: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        self.kept.measure_and_replace(&self.place(client), change)
    }
}

impl ShrinkableKeyedStateStore<Client> for Bounded {
    fn retain_recent(&self, drop_below: Nanos) {
        self.kept.retain_recent(drop_below);
        self.recount();
    }

    fn shrink_to_fit(&self) {
        ShrinkableKeyedStateStore::shrink_to_fit(&self.kept);
    }

    fn len(&self) -> usize {
        self.kept.len()
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}
