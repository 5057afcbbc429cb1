use std::error::Error;
use std::time::Duration;

use crate::model::{AreaId, CardId};

/// Why a store operation failed. Each variant is a case that a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The requested thing does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// What was requested, in words for the client: `local area 5`.
        what: String,
    },
    /// The thing exists already, or was done already.
    #[error("{what}")]
    Conflict {
        /// What exists, in words for the client: `card abcdefg has received its report already`.
        what: String,
    },
    /// The store refuses the operation, for every caller or for this one. Decorators that forbid something use it.
    #[error("{what}")]
    Refused {
        /// Why, in words for the client: `states are set by the control room alone`.
        what: String,
    },
    /// The backend cannot be reached or is too busy; nothing is known to have changed.
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
    /// Returns the error for an area that does not exist.
    #[must_use]
    pub(crate) fn no_area(area: AreaId) -> Self {
        Self::NotFound { what: format!("local area {area}") }
    }

    /// Returns the error for a card that does not exist.
    #[must_use]
    pub(crate) fn no_card(card: &CardId) -> Self {
        Self::NotFound { what: format!("card {card}") }
    }

    /// Returns the conflict for a card that exists already.
    #[must_use]
    pub(crate) fn card_exists(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} exists already") }
    }

    /// Returns the conflict for an image of a card that has not received its report.
    #[must_use]
    pub(crate) fn not_received(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has not received its report yet") }
    }

    /// Returns the conflict for a second image of one card.
    #[must_use]
    pub(crate) fn has_image(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has its image already") }
    }

    /// Returns the conflict for a second key with the same name.
    #[must_use]
    pub(crate) fn key_exists(name: &str) -> Self {
        Self::Conflict { what: format!("there is, or was, a key {name:?} already") }
    }

    /// Returns the error for a key that does not exist.
    #[must_use]
    pub(crate) fn no_key(name: &str) -> Self {
        Self::NotFound { what: format!("the key {name:?}") }
    }

    /// Returns the conflict for a second report for one card.
    #[must_use]
    pub(crate) fn received(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has received its report already") }
    }
}
