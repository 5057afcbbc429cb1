use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{AtOnce, TrustedProxies};
use crate::model::Number;

/// How many requests each client may send to this server.
///
/// Where `base_url` is an address of the machine itself, which makes it somebody's trial, and no number is configured, any
/// number is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Quota {
    /// Requests a second in the long run, of each address without a credential; 0 for any number. **Default: `20`**
    pub per_second: Rate,
    /// Requests at once, of each address without a credential. **Default: `40`**
    pub burst: AtOnce,
    /// The same for each credential without numbers of its own.
    pub credential: CredentialQuota,
    /// Requests a day of each credential, else of each address, counted as the second's are: a 24th of them is there again
    /// after an hour; 0 for any number.
    /// **Default: `100000`**
    pub per_day: Rate,
    /// Requests a second of each address, whatever its credentials, which are not even looked at beyond; 0 for any number.
    /// **Default: `400`**
    pub fuse_per_second: Rate,
    /// The proxies that are believed whom a request is from, how it came and what its id is. **Default: none**
    pub trusted_proxies: TrustedProxies,
}

/// How many requests each credential without numbers of its own may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CredentialQuota {
    /// Requests a second in the long run; 0 for any number. **Default: `100`**
    pub per_second: Rate,
    /// Requests at once. **Default: `300`**
    pub burst: AtOnce,
}

impl Quota {
    /// Whether the same numbers of requests are allowed.
    pub(crate) fn counts_like(&self, other: &Self) -> bool {
        let numbers = |of: &Self| (of.per_second, of.burst, of.credential, of.per_day, of.fuse_per_second);
        numbers(self) == numbers(other)
    }

    /// The numbers of a trial.
    pub(super) fn unlimited(self) -> Self {
        let any = Rate(None);
        let credential = CredentialQuota { per_second: any, ..self.credential };
        Self { per_second: any, credential, per_day: any, fuse_per_second: any, ..self }
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            per_second: Rate(NonZeroU32::new(20)),
            burst: AtOnce::new(NonZeroU32::MIN.saturating_add(39)),
            credential: CredentialQuota::default(),
            per_day: Rate(NonZeroU32::new(100_000)),
            // More than the burst of a credential: it must not be the fuse that stops one.
            fuse_per_second: Rate(NonZeroU32::new(400)),
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

impl Default for CredentialQuota {
    fn default() -> Self {
        Self {
            per_second: Rate(NonZeroU32::new(100)),
            // An operator at a desk clears more than a hundred areas in one go.
            burst: AtOnce::new(NonZeroU32::MIN.saturating_add(299)),
        }
    }
}

/// A number of requests in a time, or any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub struct Rate(Option<NonZeroU32>);

/// A number that is no [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0, which allows any number, to {}", u32::MAX)]
pub struct InvalidRate;

impl Rate {
    /// The number; `None` for any.
    #[must_use]
    pub fn get(self) -> Option<NonZeroU32> {
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
