use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::duration;

/// How the service ends when it is told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Shutdown {
    /// For how long it goes on as before, but for `/health/ready`, which answers 503, so that whoever shares out requests
    /// learns of it; connections end with their next answer. **Default: `0s`**
    #[serde(with = "duration")]
    pub delay: Duration,
    /// How long requests in progress and shutdown fairings may take then. It ends as soon as they are done. **Default: `15s`**
    #[serde(with = "duration")]
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { delay: Duration::ZERO, grace: Duration::from_secs(15) }
    }
}
