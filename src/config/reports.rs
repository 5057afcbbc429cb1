use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::model::duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Reports {
    /// Age after which reports are erased; `0` keeps all. **Default: `0`**
    #[serde(with = "duration")]
    pub keep: Duration,
}

impl Reports {
    pub(super) fn check(self) -> Result<(), ConfigError> {
        check_keep("siaga.reports.keep", self.keep, "reports")
    }
}

/// Rejects ages below a day, so that a missing unit does not erase data.
pub(super) fn check_keep(key: &str, keep: Duration, all: &str) -> Result<(), ConfigError> {
    if keep.is_zero() || keep >= Duration::from_hours(24) {
        Ok(())
    } else {
        Err(ConfigError::new(key, format!("must be at least 1d, or 0 to keep all {all}")))
    }
}
