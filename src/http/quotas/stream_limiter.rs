use super::Client;
use crate::config::Streams;
use crate::http::concurrency_limiter::{ConcurrencyLimiter, ConcurrencyPermit, LimitReached};
use crate::telemetry::Metrics;

/// Limits how many clients wait for changes at the same time: streams, and requests that wait. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct StreamLimiter {
    limits: Streams,
    slots: ConcurrencyLimiter<Client>,
}

impl StreamLimiter {
    /// Returns the places that the limits allow, and shows in `metrics` how many are taken.
    #[must_use]
    pub(crate) fn new(limits: Streams, metrics: &Metrics) -> Self {
        let slots = ConcurrencyLimiter::new(limits.total);
        let measured = slots.clone();
        metrics.add_source(move |metrics| metrics.streams(measured.count().into()));
        Self { limits, slots }
    }

    /// Takes a place for a client, which is free again when the slot is dropped.
    ///
    /// # Errors
    ///
    /// [`LimitReached`].
    pub(crate) fn take(&self, client: Client) -> Result<ConcurrencyPermit<Client>, LimitReached> {
        let Streams { per_key, per_address, .. } = self.limits;
        let most = if matches!(client, Client::Credential(..)) { per_key } else { per_address };
        self.slots.take(client, most)
    }
}
