use super::{Metrics, gauge};

/// Metrics of a store in a database.
impl Metrics {
    /// Sets how many connections to the database are in use, and how many are idle.
    pub(crate) fn connections(&self, in_use: usize, idle: usize) {
        for (state, count) in [("in_use", in_use), ("idle", idle)] {
            self.all().connections.get_or_create(&[("state", state)]).set(gauge(count));
        }
    }

    /// Sets how many calls wait for a connection to the database because all connections that they may use are in use.
    pub(crate) fn calls_waiting(&self, count: usize) {
        self.all().calls_waiting.get_or_create(&[]).set(gauge(count));
    }

    /// Sets whether the store is notified of changes by other servers.
    pub(crate) fn listener(&self, is_up: bool) {
        self.all().listener_up.get_or_create(&[]).set(is_up.into());
    }

    /// Counts calls that are tried again because other calls held a lock, or another call in their transaction failed.
    pub(crate) fn calls_retried(&self, count: usize) {
        self.all().retries.inc_by(count as u64);
    }
}
