use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock, MonotonicClock};

use super::Client;
use super::hourly_limiter::HourlyLimiter;
use crate::config::Rate;

/// How many reports per hour each network may still publish without review once the total is exceeded.
const NETWORK_SHARE: u32 = 3;

/// Decides which reports of residents are published without review. Counts reports by address, by network (one person can have
/// many addresses), and in total. Beyond the total, each network still has a small share, so that nobody can block others.
pub(crate) struct ReviewPolicy<C: Clock = MonotonicClock> {
    /// An address (IPv4, or IPv6 /64) may publish `each` reports an hour; a /56 twice, a /48 or an IPv4 /24 four times as many.
    address: HourlyLimiter<C>,
    network: HourlyLimiter<C>,
    wide: HourlyLimiter<C>,
    total: HourlyLimiter<C>,
    overflow: HourlyLimiter<C>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Published,
    /// Published as part of the network's share, because the total is exceeded.
    PublishedFromShare,
    HeldForNetwork,
    /// Held for review, because the total and the network's share are exceeded.
    HeldForTotal,
}

impl Verdict {
    pub(crate) fn is_held(self) -> bool {
        matches!(self, Self::HeldForNetwork | Self::HeldForTotal)
    }

    pub(crate) fn is_crowded(self) -> bool {
        matches!(self, Self::PublishedFromShare | Self::HeldForTotal)
    }
}

impl ReviewPolicy {
    /// `each` limits an address and `total` all addresses, in reports per hour; `0` is no limit.
    pub(crate) fn new(each: Rate, total: Rate) -> Self {
        Self::with_clock(each, total, &MonotonicClock)
    }
}

impl<C: Clock + Clone> ReviewPolicy<C> {
    /// Networks have two and four times the limit of an address.
    pub(super) fn with_clock(per_address: Rate, total: Rate, clock: &C) -> Self {
        let times = |factor: u32| {
            let factor = NonZeroU32::new(factor).unwrap_or(NonZeroU32::MIN);
            Rate::new(per_address.get().map(|each| each.saturating_mul(factor)))
        };
        Self {
            address: HourlyLimiter::with_clock(per_address, clock),
            network: HourlyLimiter::with_clock(times(2), clock),
            wide: HourlyLimiter::with_clock(times(4), clock),
            total: HourlyLimiter::with_clock(total, clock),
            overflow: HourlyLimiter::with_clock(Rate::new(NonZeroU32::new(NETWORK_SHARE)), clock),
        }
    }

    /// Counts a report; the limits of the networks are checked before the total.
    pub(crate) fn count(&self, address: Option<IpAddr>) -> Verdict {
        let networks = address.map(|address| self.networks(address)).unwrap_or_default();
        if networks.iter().any(|(network, limit)| limit.count(network).is_err()) {
            return Verdict::HeldForNetwork;
        }
        if self.total.count(&Client::Rest).is_ok() {
            return Verdict::Published;
        }
        let widest = networks.last().map_or(&Client::Rest, |(network, _)| network);
        if self.overflow.count(widest).is_ok() { Verdict::PublishedFromShare } else { Verdict::HeldForTotal }
    }

    /// Returns the address and the networks around it that one customer may own, the widest last, each with its limiter.
    fn networks(&self, address: IpAddr) -> Vec<(Client, &HourlyLimiter<C>)> {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let bits = address.to_bits();
                vec![(Client::V4(bits), &self.address), (Client::V4Subnet(bits >> 8), &self.wide)]
            }
            IpAddr::V6(address) => {
                let bits = (address.to_bits() >> 64) as u64;
                let prefix = |length: u8| Client::V6Prefix { bits: bits >> (64 - length), length };
                vec![(Client::V6(bits), &self.address), (prefix(56), &self.network), (prefix(48), &self.wide)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn rate(count: u32) -> Rate {
        Rate::new(NonZeroU32::new(count))
    }

    fn published<C: Clock + Clone>(
        quota: &ReviewPolicy<C>,
        addresses: impl Iterator<Item = String>,
    ) -> usize {
        addresses.filter(|address| !quota.count(address.parse().ok()).is_held()).count()
    }

    #[test]
    fn a_customer_with_many_addresses_publishes_at_most_four_times_the_limit_of_an_address() {
        let quota = || ReviewPolicy::with_clock(rate(10), rate(0), &FakeRelativeClock::default());
        let one = |_| "2001:db8:1:2::1".to_owned();
        assert_eq!(published(&quota(), (0..100).map(one)), 10);
        assert_eq!(published(&quota(), (0..100).map(|n| format!("2001:db8:1:2::{n:x}"))), 10, "a /64");
        assert_eq!(published(&quota(), (0..100).map(|n| format!("2001:db8:1:{n:x}::1"))), 20, "a /56");
        let apart = (0..1_000).map(|n| format!("2001:db8:1:{:x}::1", n * 60));
        assert_eq!(published(&quota(), apart), 40, "a /48");
        assert_eq!(published(&quota(), (0..200).map(|n| format!("192.0.2.{n}"))), 40, "a /24");
        assert_eq!(published(&quota(), (0..50).map(|n| format!("192.0.{n}.1"))), 50, "others");
    }

    #[test]
    fn beyond_the_total_each_network_retains_a_small_share() {
        let clock = FakeRelativeClock::default();
        let quota = ReviewPolicy::with_clock(rate(100), rate(200), &clock);
        let networks = (0..10_000).map(|n| format!("10.{}.{}.1", n / 50, n % 50));
        assert_eq!(published(&quota, networks), 200 + 9_800);
        let flood = (0..20).map(|n| format!("192.0.2.{n}"));
        assert_eq!(published(&quota, flood), NETWORK_SHARE as usize);
        assert_eq!(published(&quota, std::iter::once("198.51.100.7".to_owned())), 1, "another network");
        clock.advance(Duration::from_hours(1));
        assert_eq!(published(&quota, (0..20).map(|n| format!("192.0.2.{n}"))), 20, "an hour later");
    }

    #[test]
    fn without_limits_everything_is_published() {
        let quota = ReviewPolicy::with_clock(rate(0), rate(0), &FakeRelativeClock::default());
        assert_eq!(published(&quota, (0..1_000).map(|_| "192.0.2.1".to_owned())), 1_000);
    }
}
