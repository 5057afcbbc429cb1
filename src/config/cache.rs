use std::time::Duration;

use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Cache {
    /// Size of the response cache, such as `64MiB`; at least `1MiB`. `0` disables caching. **Default: `64MiB`**
    pub size: ByteUnit,
    /// How long shared caches in front of the service may reuse public responses: whole seconds from `1s` to `1m`; `0` makes them
    /// revalidate each time. **Default: `0`**
    #[serde(with = "duration")]
    pub shared: Duration,
}

impl Cache {
    const MAX_SHARED: Duration = Duration::from_mins(1);

    #[must_use]
    pub(crate) fn shared(self) -> Option<Duration> {
        Some(self.shared).filter(|shared| !shared.is_zero())
    }

    pub(super) fn check(self) -> Result<(), ConfigError> {
        if self.shared.subsec_nanos() > 0 || self.shared > Self::MAX_SHARED {
            let reason =
                "must be whole seconds from 1s to 1m, or 0 if shared caches must revalidate each time";
            return Err(ConfigError::new("siaga.cache.shared", reason));
        }
        if self.size == 0 || self.size >= ByteUnit::Mebibyte(1) {
            Ok(())
        } else {
            Err(ConfigError::new("siaga.cache.size", "must be 0 or at least 1MiB"))
        }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { size: ByteUnit::Mebibyte(64), shared: Duration::ZERO }
    }
}
