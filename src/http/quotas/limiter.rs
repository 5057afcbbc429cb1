use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::{StateInformationMiddleware, StateSnapshot};
use governor::{InsufficientCapacity, NotUntil, Quota, RateLimiter};

use super::bounded_counters::BoundedCounters;
use super::{Client, QuotaState, TooMany};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// One window for all clients.
pub(super) struct Limiter<C: Clock> {
    counts: RateLimiter<Client, BoundedCounters, C, StateInformationMiddleware>,
    /// The same counts, to give requests back.
    kept: BoundedCounters,
    /// How many requests a client may send at once.
    limit: u32,
    /// After how long a client gets one of them back.
    pace: Duration,
}

impl<C: Clock + Clone> Limiter<C> {
    pub(super) fn per_second(rate: NonZeroU32, burst: NonZeroU32, clock: &C) -> Self {
        Self::new(Quota::per_second(rate).allow_burst(burst), clock)
    }

    pub(super) fn per_day(rate: NonZeroU32, clock: &C) -> Self {
        // A day has more nanoseconds than 32 bits can count, so the pace is never zero.
        let pace = Quota::with_period(DAY / rate.get());
        Self::new(pace.unwrap_or(Quota::per_second(rate)).allow_burst(rate), clock)
    }

    pub(super) fn per_hour(rate: NonZeroU32, clock: &C) -> Self {
        let pace = Quota::with_period(HOUR / rate.get());
        Self::new(pace.unwrap_or(Quota::per_second(rate)).allow_burst(rate), clock)
    }

    fn new(quota: Quota, clock: &C) -> Self {
        let kept = BoundedCounters::default();
        Self {
            counts: RateLimiter::new(quota, kept.clone(), clock.clone()),
            kept,
            limit: quota.burst_size().get(),
            pace: quota.replenish_interval(),
        }
    }

    /// Counts a request; returns the client's quota after it.
    pub(super) fn count(&self, client: &Client) -> Result<QuotaState, TooMany> {
        self.counts
            .check_key(client)
            .map(|state| self.standing(&state))
            .map_err(|until| self.too_many(&until, 1))
    }

    /// Charges this many requests, at most half of the limit, of which `before` were charged before; returns `None` if there are none
    /// to charge.
    pub(super) fn charge(
        &self,
        client: &Client,
        before: u32,
        requests: u32,
    ) -> Result<Option<QuotaState>, TooMany> {
        let [before, requests] = [before, requests].map(|requests| requests.min(self.limit / 2));
        let Some(requests) = NonZeroU32::new(requests.saturating_sub(before)) else { return Ok(None) };
        match self.counts.check_key_n(client, requests) {
            Ok(Ok(state)) => Ok(Some(self.standing(&state))),
            Ok(Err(until)) => Err(self.too_many(&until, requests.get())),
            // Half of the limit is never more than the limit.
            Err(InsufficientCapacity(_)) => Ok(None),
        }
    }

    /// Gives back this many tenths of a request that was counted.
    pub(super) fn give_back(&self, client: &Client, tenths: u32) {
        self.kept.give_back(client, self.pace * tenths / 10);
    }

    fn standing(&self, state: &StateSnapshot) -> QuotaState {
        let remaining = state.remaining_burst_capacity();
        let reset = self.pace.saturating_mul(self.limit.saturating_sub(remaining));
        QuotaState { limit: self.limit, remaining, reset }
    }

    /// Returns the refusal for a client that has fewer than this many requests left.
    fn too_many(&self, until: &NotUntil<C::Instant>, requests: u32) -> TooMany {
        let retry_after = until.wait_time_from(self.counts.clock().now());
        let reset = retry_after + self.pace.saturating_mul(self.limit - requests);
        TooMany { standing: QuotaState { limit: self.limit, remaining: requests - 1, reset }, retry_after }
    }

    pub(super) fn sweep(&self) {
        self.counts.retain_recent();
        self.counts.shrink_to_fit();
    }

    pub(super) fn tracked(&self) -> usize {
        self.counts.len()
    }
}
