use std::sync::Arc;
use std::time::Duration;

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};

use super::Client;

/// How many addresses are counted individually. Each takes a few tens of bytes.
const MOST: usize = 200_000;
/// How many wider networks are counted in addition.
const MOST_NETWORKS: usize = 70_000;

/// The counts of clients. If there are too many clients, new ones are counted by their networks. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedCounters(Arc<HashMapStateStore<Client>>);

impl BoundedCounters {
    /// Returns the client, or the network in whose place it is counted.
    fn place(&self, client: &Client) -> Client {
        let (mut place, counts) = (client.clone(), self.0.lock());
        for most in [MOST, MOST + MOST_NETWORKS] {
            if place.is_known() || counts.contains_key(&place) || counts.len() < most {
                return place;
            }
            place = place.wider();
        }
        Client::Rest
    }

    /// Gives a client back what it has used of a window, as this much time; at most what it has used. A client that is not
    /// counted has used nothing.
    pub(super) fn give_back(&self, client: &Client, time: Duration) {
        let place = self.place_known(client);
        let back = |used: Option<Nanos>| used.map(|used| ((), used.saturating_sub(time.into()))).ok_or(());
        // Only a count that was dropped meanwhile fails: the client has everything again.
        let _ = place.map(|place| self.0.measure_and_replace(&place, back));
    }

    /// Returns the place in which a client is counted now, if it is counted.
    fn place_known(&self, client: &Client) -> Option<Client> {
        let wider = client.wider();
        let places = [client.clone(), wider.clone(), wider.wider()];
        let counts = self.0.lock();
        places.into_iter().find(|place| counts.contains_key(place))
    }
}

impl StateStore for BoundedCounters {
    type Key = Client;

    fn measure_and_replace<T, F, E>(&self, client: &Client, change: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        self.0.measure_and_replace(&self.place(client), change)
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
