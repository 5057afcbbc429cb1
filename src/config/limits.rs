use std::time::Duration;

use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::duration;

/// What is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The longest period a request may ask about. **Default: `366d`**
    #[serde(with = "duration")]
    pub max_period: Duration,
    /// The largest JSON body: a size such as `100KiB`, or a number of bytes. **Default: `100KiB`**
    pub body: ByteUnit,
    /// How long a body may take to arrive, and the store to answer. **Default: `10s`**
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// How much of an answer is copied at once: less takes less memory where many read slowly, and more time. A size up to
    /// `16MiB`. **Default: `2MiB`**, which is the map of a large city
    pub chunk: ByteUnit,
}

impl Limits {
    const LARGEST_CHUNK: ByteUnit = ByteUnit::Mebibyte(16);

    /// How many bytes of an answer are copied at once.
    #[must_use]
    pub fn chunk(&self) -> usize {
        // At most 16 MiB, by the check.
        self.chunk.as_u64() as usize
    }

    /// Checks that something is allowed at all.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key| Err(ConfigError::new(&format!("siaga.limits.{key}"), "must be more than 0"));
        match self {
            Self { max_period: Duration::ZERO, .. } => wrong("max_period"),
            Self { timeout: Duration::ZERO, .. } => wrong("timeout"),
            Self { body, .. } if *body == 0 => wrong("body"),
            Self { chunk, .. } if *chunk == 0 => wrong("chunk"),
            Self { chunk, .. } if *chunk > Self::LARGEST_CHUNK => {
                Err(ConfigError::new("siaga.limits.chunk", "must be at most 16MiB"))
            }
            _ => Ok(()),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_period: Duration::from_hours(24 * 366),
            body: ByteUnit::Kibibyte(100),
            timeout: Duration::from_secs(10),
            chunk: ByteUnit::Mebibyte(2),
        }
    }
}
