use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::{InsufficientCapacity, NotUntil, Quota, RateLimiter};

use super::bounded_counters::BoundedCounters;
use super::{Client, QuotaState, TooMany};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

pub(super) struct Limiter<C: Clock> {
    governor: RateLimiter<Client, BoundedCounters, C, StateInformationMiddleware>,
    /// The counters inside `governor`, for refunds.
    counters: BoundedCounters,
    limit: u32,
    refill_interval: Duration,
}

impl<C: Clock + Clone> Limiter<C> {
    pub(super) fn per_second(rate: NonZeroU32, burst: NonZeroU32, clock: &C) -> Self {
        Self::new(Quota::per_second(rate).allow_burst(burst), clock)
    }

    pub(super) fn per_day(rate: NonZeroU32, clock: &C) -> Self {
        // The interval is never zero: a day has more nanoseconds than the largest rate, which has 32 bits.
        let quota = Quota::with_period(DAY / rate.get());
        Self::new(quota.unwrap_or(Quota::per_second(rate)).allow_burst(rate), clock)
    }

    pub(super) fn per_hour(rate: NonZeroU32, clock: &C) -> Self {
        let interval = Quota::with_period(HOUR / rate.get());
        Self::new(interval.unwrap_or(Quota::per_second(rate)).allow_burst(rate), clock)
    }

    fn new(quota: Quota, clock: &C) -> Self {
        let counters = BoundedCounters::default();
        Self {
            governor: RateLimiter::new(quota, counters.clone(), clock.clone()),
            counters,
            limit: quota.burst_size().get(),
            refill_interval: quota.replenish_interval(),
        }
    }

    pub(super) fn count(&self, client: &Client) -> Result<QuotaState, TooMany> {
        self.governor
            .check_key(client)
            .map(|state| self.quota_state(&state))
            .map_err(|until| self.too_many(&until, 1))
    }

    /// Charges `requests`, at most half of the limit, minus the `before` that were charged earlier. `None` if nothing remains.
    pub(super) fn charge(
        &self,
        client: &Client,
        before: u32,
        requests: u32,
    ) -> Result<Option<QuotaState>, TooMany> {
        let [before, requests] = [before, requests].map(|requests| requests.min(self.limit / 2));
        let Some(requests) = NonZeroU32::new(requests.saturating_sub(before)) else { return Ok(None) };
        match self.governor.check_key_n(client, requests) {
            Ok(Ok(state)) => Ok(Some(self.quota_state(&state))),
            Ok(Err(until)) => Err(self.too_many(&until, requests.get())),
            Err(InsufficientCapacity(_)) => Ok(None),
        }
    }

    pub(super) fn refund(&self, client: &Client, tenths: u32) {
        self.counters.refund(client, self.refill_interval * tenths / 10);
    }

    fn quota_state(&self, state: &StateSnapshot) -> QuotaState {
        let remaining = state.remaining_burst_capacity();
        let reset = self.refill_interval.saturating_mul(self.limit.saturating_sub(remaining));
        QuotaState { limit: self.limit, remaining, reset }
    }

    fn too_many(&self, until: &NotUntil<C::Instant>, requests: u32) -> TooMany {
        let retry_after = until.wait_time_from(self.governor.clock().now());
        let reset = retry_after + self.refill_interval.saturating_mul(self.limit - requests);
        TooMany { quota: QuotaState { limit: self.limit, remaining: requests - 1, reset }, retry_after }
    }

    pub(super) fn sweep(&self) {
        self.governor.retain_recent();
        self.governor.shrink_to_fit();
    }

    pub(super) fn client_count(&self) -> usize {
        self.governor.len()
    }
}
