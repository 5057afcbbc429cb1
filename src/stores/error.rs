use std::error::Error;
use std::time::Duration;

use crate::model::CardId;

/// Why a store could not do what it was asked: the variants are what a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The thing named does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// What was looked for, in words for the client: `local area 5`.
        what: String,
    },
    /// The thing named is there already, or was done already.
    #[error("{what}")]
    Conflict {
        /// What is there, in words for the client: `card abcdefg has received its report already`.
        what: String,
    },
    /// The store does not take this, whoever asks or for who asks: what a decorator forbids.
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
    /// The backend failed in a way no caller can mend.
    #[error("the store failed")]
    Backend {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// The conflict of an image for a card whose report has not come.
    #[must_use]
    pub fn not_received(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has not received its report yet") }
    }

    /// The conflict of a second image for one card.
    #[must_use]
    pub fn has_image(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has its image already") }
    }

    /// The conflict of a second key of one name.
    #[must_use]
    pub fn key_exists(name: &str) -> Self {
        Self::Conflict { what: format!("there is, or was, a key {name:?} already") }
    }

    /// A key that is not there.
    #[must_use]
    pub fn no_key(name: &str) -> Self {
        Self::NotFound { what: format!("the key {name:?}") }
    }

    /// The conflict of a second report for one card.
    #[must_use]
    pub fn received(card: &CardId) -> Self {
        Self::Conflict { what: format!("card {card} has received its report already") }
    }
}
