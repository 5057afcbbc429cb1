use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, Reference};

use super::{Client, QuotaState, TooMany};

/// After how long an address gets one of its guesses back.
const PACE: Duration = Duration::from_secs(3);
/// How many addresses are counted individually. If there are more, new ones are counted by their networks.
const MOST: usize = 50_000;

/// Counts the guesses of each address: requests without a credential that named something unknown. Unlike a window of requests,
/// it counts a request only once its outcome is known.
pub(super) struct GuessLimiter<C: Clock> {
    clock: C,
    /// How many an address has at once.
    limit: NonZeroU32,
    begun: C::Instant,
    /// When each address has all of its guesses again, from the beginning on.
    whole: Mutex<HashMap<Client, Duration>>,
}

impl<C: Clock> GuessLimiter<C> {
    pub(super) fn new(limit: NonZeroU32, clock: C) -> Self {
        let begun = clock.now();
        Self { clock, limit, begun, whole: Mutex::default() }
    }

    /// Checks that an address has a guess left; does not use it.
    pub(super) fn check(&self, address: &Client) -> Result<(), TooMany> {
        let now = self.now();
        let whole = self.whole();
        let known = whole.get(address).or_else(|| whole.get(&address.wider()));
        let used = known.map_or(Duration::ZERO, |at| Duration::saturating_sub(*at, now));
        let most = PACE * (self.limit.get() - 1);
        let Some(retry_after) = used.checked_sub(most).filter(|wait| !wait.is_zero()) else { return Ok(()) };
        let standing = QuotaState { limit: self.limit.get(), remaining: 0, reset: used };
        Err(TooMany { standing, retry_after })
    }

    /// Uses a guess of an address.
    pub(super) fn count(&self, address: &Client) {
        let now = self.now();
        let mut whole = self.whole();
        let is_full = whole.len() >= MOST && !whole.contains_key(address);
        let place = if is_full { address.wider() } else { address.clone() };
        let at = whole.entry(place).or_insert(now);
        // Requests that came at once may use more guesses than there are; they are paid back like the others.
        *at = (*at).max(now) + PACE;
    }

    pub(super) fn sweep(&self) {
        let now = self.now();
        let mut whole = self.whole();
        whole.retain(|_, at| *at > now);
        whole.shrink_to_fit();
    }

    fn now(&self) -> Duration {
        self.clock.now().duration_since(self.begun).into()
    }

    fn whole(&self) -> MutexGuard<'_, HashMap<Client, Duration>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn an_address_has_some_guesses_at_once_and_then_one_each_three_seconds() {
        let clock = FakeRelativeClock::default();
        let guesses = GuessLimiter::new(NonZeroU32::new(20).unwrap(), clock.clone());
        for _ in 0..20 {
            assert_eq!(guesses.check(&address(1)), Ok(()));
            guesses.count(&address(1));
        }
        let refused = guesses.check(&address(1)).unwrap_err();
        assert_eq!(refused.retry_after, PACE);
        assert_eq!(guesses.check(&address(2)), Ok(()), "another address");
        clock.advance(Duration::from_millis(2_999));
        assert!(guesses.check(&address(1)).is_err());
        clock.advance(Duration::from_millis(1));
        assert_eq!(guesses.check(&address(1)), Ok(()));
        guesses.count(&address(1));
        assert!(guesses.check(&address(1)).is_err());
        clock.advance(PACE * 20);
        guesses.sweep();
        assert!(guesses.whole().is_empty());
    }

    #[test]
    fn more_addresses_than_are_counted_share_the_guesses_of_their_networks() {
        let guesses = GuessLimiter::new(NonZeroU32::new(2).unwrap(), FakeRelativeClock::default());
        for number in 0..200_000_u32 {
            guesses.count(&address(number));
        }
        assert!(guesses.whole().len() < MOST + 1_000);
        assert!(guesses.check(&address(199_999)).is_err());
    }
}
