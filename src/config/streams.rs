use std::time::Duration;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::{Number, duration};

/// Streams of changes, and long-polling requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Streams {
    /// Concurrent streams of a server; `0` disables streams and long polling. **Default: `10000`**
    #[serde(deserialize_with = "count")]
    pub total: u32,
    /// Concurrent streams of an address; an IPv6 /64 counts as one address. **Default: `256`**
    #[serde(deserialize_with = "count")]
    pub per_address: u32,
    /// Concurrent streams of a credential. **Default: `32`**
    #[serde(deserialize_with = "count")]
    pub per_key: u32,
    /// How long a stream stays open; the client then opens another one. **Default: `1h`**
    #[serde(with = "duration")]
    pub age: Duration,
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = Number::deserialize(deserializer)?.get();
    number.ok_or_else(|| D::Error::custom("must be a whole number, of 32 bits at most"))
}

impl Default for Streams {
    fn default() -> Self {
        Self { total: 10_000, per_address: 256, per_key: 32, age: Duration::from_hours(1) }
    }
}

impl Streams {
    pub(super) fn check(self) -> Result<(), ConfigError> {
        if self.age >= Duration::from_secs(10) {
            Ok(())
        } else {
            Err(ConfigError::new("siaga.streams.age", "must be at least 10s"))
        }
    }
}
