use std::net::IpAddr;

use governor::clock::{Clock, MonotonicClock};

use super::TooMany;
use super::limiter::Limiter;
use crate::config::Rate;

/// How many addresses are counted before those with their whole quota are dropped.
const SWEPT: usize = 10_000;

/// Counts what each address does in an hour; it gets it back at a steady pace.
pub(crate) struct Hourly<C: Clock = MonotonicClock>(Option<Limiter<C>>);

impl Hourly {
    pub(crate) fn new(rate: Rate) -> Self {
        Self(rate.get().map(|rate| Limiter::per_hour(rate, &MonotonicClock)))
    }

    /// Counts one more for an address.
    ///
    /// # Errors
    ///
    /// If it is one too many.
    pub(crate) fn count(&self, address: Option<IpAddr>) -> Result<(), TooMany> {
        let (Some(limiter), Some(address)) = (&self.0, address) else { return Ok(()) };
        if limiter.tracked() >= SWEPT {
            limiter.sweep();
        }
        limiter.count(&address.into()).map(drop)
    }
}
