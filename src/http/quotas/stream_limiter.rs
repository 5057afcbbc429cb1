use super::Client;
use crate::config::Streams;
use crate::http::concurrency_limiter::{ConcurrencyLimiter, ConcurrencyPermit, LimitReached};
use crate::telemetry::Metrics;

/// Limits how many clients wait for changes at the same time, by stream or by long polling. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct StreamLimiter {
    limits: Streams,
    limiter: ConcurrencyLimiter<Client>,
}

impl StreamLimiter {
    #[must_use]
    pub(crate) fn new(limits: Streams, metrics: &Metrics) -> Self {
        let slots = ConcurrencyLimiter::new(limits.total);
        let measured = slots.clone();
        metrics.add_source(move |metrics| metrics.set_open_streams(measured.in_use().into()));
        Self { limits, limiter: slots }
    }

    pub(crate) fn try_acquire(&self, client: Client) -> Result<ConcurrencyPermit<Client>, LimitReached> {
        let Streams { per_key, per_address, .. } = self.limits;
        let limit = if matches!(client, Client::Credential(..)) { per_key } else { per_address };
        self.limiter.try_acquire(client, limit)
    }
}
