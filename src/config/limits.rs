use std::num::NonZeroU32;
use std::time::Duration;

use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::Number;
use crate::model::duration;

/// Limits of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The longest period that a request may cover. **Default: `366d`**
    #[serde(with = "duration")]
    pub max_period: Duration,
    /// The largest JSON body of a request: a size such as `100KiB`, or a number of bytes. **Default: `100KiB`**
    pub body: ByteUnit,
    /// How long the body of a request may take to arrive, and how long the store may take to respond. **Default: `10s`**
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// Size of the chunks in which a response is copied for each client, up to `16MiB`. A smaller size needs less memory if many
    /// clients read slowly, but more time. **Default: `2MiB`**, the size of the map of a large city
    pub chunk: ByteUnit,
    /// Memory for all large responses together, while they are rendered and sent. **Default: `256MiB`**
    pub rendering: ByteUnit,
    /// Maximum number of features in a list of reports or of gauge readings. **Default: `100000`**
    pub features: Features,
    /// How long the cache serves public responses while the store is unavailable, counted from when they were last known to be
    /// current; `0` disables stale responses. **Default: `1h`**
    #[serde(with = "duration")]
    pub stale: Duration,
}

/// A number of features, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub struct Features(NonZeroU32);

/// A number that is not a [`Features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", u32::MAX)]
pub struct InvalidFeatures;

impl Features {
    #[must_use]
    pub(crate) fn get(self) -> u32 {
        self.0.get()
    }
}

impl TryFrom<Number> for Features {
    type Error = InvalidFeatures;

    fn try_from(number: Number) -> Result<Self, InvalidFeatures> {
        number.get().and_then(NonZeroU32::new).map(Self).ok_or(InvalidFeatures)
    }
}

impl From<Features> for u32 {
    fn from(features: Features) -> Self {
        features.get()
    }
}

impl Limits {
    const MAX_CHUNK: ByteUnit = ByteUnit::Mebibyte(16);

    #[must_use]
    pub(crate) fn chunk(&self) -> usize {
        self.chunk.as_u64() as usize
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let not_positive = |key| Err(ConfigError::new(&format!("siaga.limits.{key}"), "must be more than 0"));
        match self {
            Self { max_period: Duration::ZERO, .. } => not_positive("max_period"),
            Self { timeout: Duration::ZERO, .. } => not_positive("timeout"),
            Self { body, .. } if *body == 0 => not_positive("body"),
            Self { chunk, .. } if *chunk == 0 => not_positive("chunk"),
            Self { rendering, .. } if *rendering == 0 => not_positive("rendering"),
            Self { chunk, .. } if *chunk > Self::MAX_CHUNK => {
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
            rendering: ByteUnit::Mebibyte(256),
            features: Features(NonZeroU32::MIN.saturating_add(99_999)),
            stale: Duration::from_hours(1),
        }
    }
}
