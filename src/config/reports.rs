use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::duration;

/// How reports are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Reports {
    /// How long a report is kept after it was made; older ones are erased. `0` keeps all. **Default: `0`**
    #[serde(with = "duration")]
    pub keep: Duration,
}

impl Reports {
    /// Checks that reports are not erased by a missing unit.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        if self.keep.is_zero() || self.keep >= Duration::from_hours(24) {
            Ok(())
        } else {
            Err(ConfigError::new("siaga.reports.keep", "must be at least 1d, or 0 to keep all reports"))
        }
    }
}
