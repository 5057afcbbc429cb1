use std::time::Duration;

use super::RETRY_AFTER;
use crate::stores::StoreError;

/// Why a request about a subscription fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PushError {
    /// A field of the body is invalid: its name, and the rule.
    #[error("{0} {1}")]
    Field(&'static str, String),
    /// The push service has ended the browser's subscription (404, 410).
    #[error("must be of a subscription that its push service has not ended")]
    Ended,
    /// There is no such subscription, or the secret is not its own.
    #[error("there is no such subscription")]
    NotFound,
    #[error("there are too many subscriptions")]
    Full,
    /// The push service does not respond, or too many phones subscribe now.
    #[error("{1}")]
    Busy(Duration, String),
    /// A trial within a minute of the last message, or too many first messages for one address.
    #[error("there were too many messages")]
    TooMany(Duration),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PushError {
    pub(super) fn contended() -> Self {
        Self::Busy(RETRY_AFTER, "the subscription is changed by others".to_owned())
    }
}
