use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::{Clock, MonotonicClock};

use super::limiter::Limiter;
use super::{Client, TooMany};
use crate::config::Rate;

const MIN_SWEEP: usize = 10_000;

/// Limits how often each client may do something per hour. Clients regain actions at a steady pace.
pub(crate) struct HourlyLimiter<C: Clock = MonotonicClock>(Option<Counts<C>>);

struct Counts<C: Clock> {
    limiter: Limiter<C>,
    /// The number of clients at which the next sweep runs: twice as many as the last sweep left, for a constant cost per client.
    next_sweep: AtomicUsize,
}

impl HourlyLimiter {
    pub(crate) fn new(rate: Rate) -> Self {
        Self::with_clock(rate, &MonotonicClock)
    }
}

impl<C: Clock + Clone> HourlyLimiter<C> {
    pub(super) fn with_clock(rate: Rate, clock: &C) -> Self {
        let limiter = rate.get().map(|rate| Limiter::per_hour(rate, clock));
        Self(limiter.map(|limiter| Counts { limiter, next_sweep: MIN_SWEEP.into() }))
    }

    pub(super) fn count(&self, client: &Client) -> Result<(), TooMany> {
        let Some(Counts { limiter, next_sweep }) = &self.0 else { return Ok(()) };
        if limiter.client_count() >= next_sweep.load(Ordering::Relaxed) {
            limiter.sweep();
            next_sweep.store((2 * limiter.client_count()).max(MIN_SWEEP), Ordering::Relaxed);
        }
        limiter.count(client).map(drop)
    }

    /// Counts an action of an address. `None`, a request without a connection, is always allowed and not counted.
    pub(crate) fn count_address(&self, address: Option<IpAddr>) -> Result<(), TooMany> {
        address.map_or(Ok(()), |address| self.count(&address.into()))
    }
}
