use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Shutdown {
    /// How long the service continues while `/health/ready` responds with 503, so that load balancers stop sending requests. Each
    /// connection closes after its next response. **Default: `0s`**
    #[serde(with = "duration")]
    pub delay: Duration,
    /// How long requests in progress and shutdown fairings may take after the delay. The service ends as soon as they are done.
    /// **Default: `15s`**
    #[serde(with = "duration")]
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { delay: Duration::ZERO, grace: Duration::from_secs(15) }
    }
}
