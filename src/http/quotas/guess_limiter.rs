use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, Reference};

use super::{Client, QuotaState, TooMany};

const REFILL_INTERVAL: Duration = Duration::from_secs(3);
/// How many addresses are counted individually; beyond that, new ones are counted by their network.
const MAX_ADDRESSES: usize = 50_000;

/// Limits the guesses of each address: requests without a credential for an unknown identifier. Unlike a rate limit, it counts a
/// request only once its outcome is known.
pub(super) struct GuessLimiter<C: Clock> {
    clock: C,
    limit: NonZeroU32,
    started: C::Instant,
    /// The time, since `started`, at which each address has regained all guesses.
    full_at: Mutex<HashMap<Client, Duration>>,
}

impl<C: Clock> GuessLimiter<C> {
    pub(super) fn new(limit: NonZeroU32, clock: C) -> Self {
        let started = clock.now();
        Self { clock, limit, started, full_at: Mutex::default() }
    }

    /// Fails if the limit of guesses is used up. Counts nothing.
    pub(super) fn check(&self, address: &Client) -> Result<(), TooMany> {
        let now = self.now();
        let full_at = self.full_at();
        let regained_at = full_at.get(address).or_else(|| full_at.get(&address.wider()));
        let used = regained_at.map_or(Duration::ZERO, |at| Duration::saturating_sub(*at, now));
        let max = REFILL_INTERVAL * (self.limit.get() - 1);
        let Some(retry_after) = used.checked_sub(max).filter(|wait| !wait.is_zero()) else { return Ok(()) };
        let quota = QuotaState { limit: self.limit.get(), remaining: 0, reset: used };
        Err(TooMany { quota, retry_after })
    }

    /// Counts a guess. The address regains the guess after [`REFILL_INTERVAL`].
    pub(super) fn count(&self, address: &Client) {
        let now = self.now();
        let mut full_at = self.full_at();
        let is_full = full_at.len() >= MAX_ADDRESSES && !full_at.contains_key(address);
        let key = if is_full { address.wider() } else { address.clone() };
        let at = full_at.entry(key).or_insert(now);
        // Concurrent requests may exceed the limit; the excess then lengthens the waiting time.
        *at = (*at).max(now) + REFILL_INTERVAL;
    }

    pub(super) fn sweep(&self) {
        let now = self.now();
        let mut full_at = self.full_at();
        full_at.retain(|_, at| *at > now);
        full_at.shrink_to_fit();
    }

    fn now(&self) -> Duration {
        self.clock.now().duration_since(self.started).into()
    }

    fn full_at(&self) -> MutexGuard<'_, HashMap<Client, Duration>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn address(number: u32) -> Client {
        IpAddr::from(Ipv4Addr::from(number)).into()
    }

    #[test]
    fn an_address_has_a_burst_of_guesses_and_then_one_every_three_seconds() {
        let clock = FakeRelativeClock::default();
        let guesses = GuessLimiter::new(NonZeroU32::new(20).unwrap(), clock.clone());
        for _ in 0..20 {
            assert_eq!(guesses.check(&address(1)), Ok(()));
            guesses.count(&address(1));
        }
        let refused = guesses.check(&address(1)).unwrap_err();
        assert_eq!(refused.retry_after, REFILL_INTERVAL);
        assert_eq!(guesses.check(&address(2)), Ok(()), "another address");
        clock.advance(Duration::from_millis(2_999));
        assert!(guesses.check(&address(1)).is_err());
        clock.advance(Duration::from_millis(1));
        assert_eq!(guesses.check(&address(1)), Ok(()));
        guesses.count(&address(1));
        assert!(guesses.check(&address(1)).is_err());
        clock.advance(REFILL_INTERVAL * 20);
        guesses.sweep();
        assert!(guesses.full_at().is_empty());
    }

    #[test]
    fn addresses_beyond_the_limit_share_the_guesses_of_their_network() {
        let guesses = GuessLimiter::new(NonZeroU32::new(2).unwrap(), FakeRelativeClock::default());
        for number in 0..200_000_u32 {
            guesses.count(&address(number));
        }
        assert!(guesses.full_at().len() < MAX_ADDRESSES + 1_000);
        assert!(guesses.check(&address(199_999)).is_err());
    }
}
