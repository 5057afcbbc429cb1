use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The response cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Cache {
    /// Size of the response cache, such as `64MiB`; at least `1MiB`. `0` disables caching. **Default: `64MiB`**
    pub size: ByteUnit,
}

impl Cache {
    /// Checks that the size is useful, or 0.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        if self.size == 0 || self.size >= ByteUnit::Mebibyte(1) {
            Ok(())
        } else {
            Err(ConfigError::new("siaga.cache.size", "must be 0 or at least 1MiB"))
        }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { size: ByteUnit::Mebibyte(64) }
    }
}
