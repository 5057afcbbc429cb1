use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{PositiveCount, TrustedProxies};
use crate::model::Number;

/// Limits of the requests of each client, for each server.
///
/// If `base_url` is a loopback address, as in a trial, and no limit is configured, requests are not limited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Quota {
    /// Requests per second in the long run, for each address without a credential; `0` for no limit. **Default: `20`**
    pub per_second: Rate,
    /// Requests in a burst, for each address without a credential. **Default: `40`**
    pub burst: PositiveCount,
    /// Limits of each credential that has no limits of its own.
    pub credential: CredentialQuota,
    /// Requests per day for each credential, or else for each address; `0` for no limit. They refill steadily: a 24th of them
    /// each hour. **Default: `100000`**
    pub per_day: Rate,
    /// Requests per second for each address, whatever its credentials; beyond this limit, credentials are not even verified. `0`
    /// for no limit. **Default: `400`**
    pub fuse_per_second: Rate,
    /// How many unknown cards an address may request without a credential in a burst; it regains one every 3 s. Beyond that, only
    /// its requests for cards without a credential are rejected. `0` for no limit. **Default: `20`**
    pub unknown_cards: Rate,
    /// The proxies whose headers are trusted for the client's address, the scheme and the request id. **Default: none**
    pub trusted_proxies: TrustedProxies,
}

/// Limits of each credential that has no limits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CredentialQuota {
    /// Requests per second in the long run; `0` for no limit. **Default: `100`**
    pub per_second: Rate,
    /// Requests in a burst. **Default: `300`**
    pub burst: PositiveCount,
}

impl Quota {
    pub(crate) fn has_same_limits(&self, other: &Self) -> bool {
        let numbers = |quota: &Self| {
            (
                quota.per_second,
                quota.burst,
                quota.credential,
                quota.per_day,
                quota.fuse_per_second,
                quota.unknown_cards,
            )
        };
        numbers(self) == numbers(other)
    }

    pub(super) fn unlimited(self) -> Self {
        let any = Rate(None);
        let credential = CredentialQuota { per_second: any, ..self.credential };
        Self { per_second: any, credential, per_day: any, fuse_per_second: any, unknown_cards: any, ..self }
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            per_second: Rate(NonZeroU32::new(20)),
            burst: PositiveCount::new(NonZeroU32::MIN.saturating_add(39)),
            credential: CredentialQuota::default(),
            per_day: Rate(NonZeroU32::new(100_000)),
            // Above the burst of a credential, so that the fuse never stops such a burst.
            fuse_per_second: Rate(NonZeroU32::new(400)),
            unknown_cards: Rate(NonZeroU32::new(20)),
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

impl Default for CredentialQuota {
    fn default() -> Self {
        Self {
            per_second: Rate(NonZeroU32::new(100)),
            // Enough for an operator who clears more than a hundred areas at once.
            burst: PositiveCount::new(NonZeroU32::MIN.saturating_add(299)),
        }
    }
}

/// A number of requests per unit of time, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub struct Rate(Option<NonZeroU32>);

/// A number that is not a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0, which allows any number, to {}", u32::MAX)]
pub struct InvalidRate;

impl Rate {
    pub(super) const ANY: Self = Self(None);

    pub(crate) fn new(number: Option<NonZeroU32>) -> Self {
        Self(number)
    }

    /// Returns the number; `None` for no limit.
    #[must_use]
    pub(crate) fn get(self) -> Option<NonZeroU32> {
        self.0
    }
}

impl TryFrom<Number> for Rate {
    type Error = InvalidRate;

    fn try_from(number: Number) -> Result<Self, InvalidRate> {
        number.get().map(|number| Self(NonZeroU32::new(number))).ok_or(InvalidRate)
    }
}

impl From<Rate> for u32 {
    fn from(rate: Rate) -> Self {
        rate.0.map_or(0, NonZeroU32::get)
    }
}
