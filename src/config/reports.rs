use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::duration;

/// How reports are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Reports {
    /// How long a report is kept after it was made; older ones are erased. `0` keeps all. **Default: `0`**
    #[serde(with = "duration")]
    pub keep: Duration,
}

impl Reports {
    /// Checks that reports are not erased by a missing unit.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        check_keep("siaga.reports.keep", self.keep, "reports")
    }
}

/// Checks that nothing is erased by a missing unit.
pub(super) fn check_keep(key: &str, keep: Duration, all: &str) -> Result<(), ConfigError> {
    if keep.is_zero() || keep >= Duration::from_hours(24) {
        Ok(())
    } else {
        Err(ConfigError::new(key, format!("must be at least 1d, or 0 to keep all {all}")))
    }
}
