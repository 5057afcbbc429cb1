use super::{Metrics, gauge};

impl Metrics {
    pub(crate) fn set_connections(&self, in_use: usize, idle: usize) {
        for (state, count) in [("in_use", in_use), ("idle", idle)] {
            self.all().connections.get_or_create(&[("state", state)]).set(gauge(count));
        }
    }

    /// Sets the number of store calls that wait because all connections that they may use are busy.
    pub(crate) fn set_calls_waiting(&self, count: usize) {
        self.all().calls_waiting.get_or_create(&[]).set(gauge(count));
    }

    /// Sets whether the store receives notifications of changes by other servers.
    pub(crate) fn set_listener_up(&self, is_up: bool) {
        self.all().listener_up.get_or_create(&[]).set(is_up.into());
    }

    /// Counts store calls that were retried because of a lock, or of a failure in the same transaction.
    pub(crate) fn count_retry(&self, count: usize) {
        self.all().retries.inc_by(count as u64);
    }
}
