use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::{Clock, MonotonicClock};

use super::limiter::Limiter;
use super::{Client, TooMany};
use crate::config::Rate;

/// From how many clients on those with their whole quota are dropped.
const SWEPT: usize = 10_000;

/// Counts what each client does in an hour; it gets it back at a steady pace.
pub(crate) struct HourlyLimiter<C: Clock = MonotonicClock>(Option<Counts<C>>);

struct Counts<C: Clock> {
    limiter: Limiter<C>,
    /// How many clients must be counted before the next sweep: twice as many as the last one left, so that a sweep, which looks at each,
    /// costs a constant amount for each client that is counted.
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
        Self(limiter.map(|limiter| Counts { limiter, next_sweep: SWEPT.into() }))
    }

    /// Counts one more for a client.
    ///
    /// # Errors
    ///
    /// If it is one too many.
    pub(super) fn count(&self, client: &Client) -> Result<(), TooMany> {
        let Some(Counts { limiter, next_sweep }) = &self.0 else { return Ok(()) };
        if limiter.tracked() >= next_sweep.load(Ordering::Relaxed) {
            limiter.sweep();
            next_sweep.store((2 * limiter.tracked()).max(SWEPT), Ordering::Relaxed);
        }
        limiter.count(client).map(drop)
    }

    /// Counts one more for an address; a request without a connection has none, and is not counted.
    ///
    /// # Errors
    ///
    /// If it is one too many.
    pub(crate) fn count_address(&self, address: Option<IpAddr>) -> Result<(), TooMany> {
        address.map_or(Ok(()), |address| self.count(&address.into()))
    }
}
