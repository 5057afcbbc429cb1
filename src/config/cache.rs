use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The answers that are kept at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Cache {
    /// How many bytes they may be, a size such as `64MiB`, from `1MiB`; `0` to keep none. **Default: `64MiB`**
    pub size: ByteUnit,
}

impl Cache {
    /// Checks that something useful can be kept, or nothing shall be.
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
