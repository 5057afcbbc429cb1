use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::model::bodies::MissingAlert;
use crate::model::{AreaId, CardId};

/// Why a store operation failed. Each variant is a case that callers handle differently.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The requested object does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// The object, in words for the client: `local area 5`.
        what: String,
    },
    /// The object exists already, or the operation was done already.
    #[error("{what}")]
    Conflict {
        /// The conflict, in words for the client: `card abcdefg has received its report already`.
        what: String,
    },
    /// The store refuses the operation, to all callers or only to this one. Used by decorators that forbid operations.
    #[error("{what}")]
    Refused {
        /// The reason, in words for the client: `states are set by the control room alone`.
        what: String,
    },
    /// The request is wrong, which only the stored data shows.
    #[error("{what}")]
    Invalid {
        /// The part of the body that is wrong: `observations.0.alert`.
        key: String,
        /// The fault, in words for the client.
        what: String,
    },
    /// Areas are outside of the limit of the request. Nothing was changed.
    #[error("outside of the areas that the credential may change")]
    OutsideLimit {
        /// The areas, ascending; empty for a report without an area.
        areas: Vec<AreaId>,
    },
    /// The backend cannot be reached or is too busy. If the connection was lost, the operation may have succeeded.
    #[error("the store cannot be reached")]
    Unavailable {
        /// How long a client should wait before it tries again.
        retry_after: Duration,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The backend failed in a way that no caller can fix.
    #[error("the store failed")]
    Backend {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    #[must_use]
    pub(crate) fn no_area(area: AreaId) -> Self {
        Self::NotFound { what: format!("local area {area}") }
    }

    #[must_use]
    pub(crate) fn no_gauge(id: &str) -> Self {
        Self::NotFound { what: format!("the gauge {id:?}") }
    }

    pub(crate) fn missing_alert(missing: MissingAlert) -> Self {
        Self::Invalid { key: format!("observations.{}.alert", missing.0), what: missing.to_string() }
    }

    #[must_use]
    pub(crate) fn no_card(card: &CardId) -> Self {
        Self::NotFound { what: format!("card {card}") }
    }

    #[must_use]
    pub(crate) fn card_exists(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} exists already") }
    }

    #[must_use]
    pub(crate) fn no_card_report(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has not received its report yet") }
    }

    #[must_use]
    pub(crate) fn image_exists(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has its image already") }
    }

    #[must_use]
    pub(crate) fn key_exists(name: &str) -> Self {
        Self::Conflict { what: format!("there is, or was, a key {name:?} already") }
    }

    #[must_use]
    pub(crate) fn no_key(name: &str) -> Self {
        Self::NotFound { what: format!("the key {name:?}") }
    }

    #[must_use]
    pub(crate) fn card_used(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has received its report already") }
    }
}

/// Wraps the error of a shared computation in an error for one caller.
pub(super) fn from_shared(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unavailable { retry_after, .. } => {
            StoreError::Unavailable { retry_after, source: error.into() }
        }
        _ => StoreError::Backend { source: error.into() },
    }
}
