use std::io;

use crate::auth::InvalidSettings;
use crate::config::ConfigError;
use crate::formats::InvalidFormats;
use crate::random::RandomUnavailable;
use crate::stores::{OpenError, UnknownStore};

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// It could not be made.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// It could not start or go on.
    // The error's own text would print the whole configuration.
    #[error("{}", .0.kind())]
    Rocket(#[from] Box<rocket::Error>),
    /// The store could not go on.
    #[error("{0}")]
    Store(OpenError),
    /// The port that sends on to HTTPS cannot be listened on.
    #[error("siaga.https.redirect_from: port {port}: {error}")]
    Redirect {
        /// The port.
        port: u16,
        /// Why not.
        error: io::Error,
    },
    /// It could not be told to end.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// It was told a second time to end, and did at once.
    #[error("ended at once by a second signal; requests under way were not answered")]
    Stopped,
}

/// Why a server could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// What the configuration says of credentials is wrong.
    #[error("{0}")]
    Auth(#[from] InvalidSettings),
    /// The configuration names a store there is not.
    #[error("{0}")]
    UnknownStore(#[from] UnknownStore),
    /// The configuration names formats there are not.
    #[error("{0}")]
    Formats(#[from] InvalidFormats),
    /// The store could not be opened.
    #[error("{0}")]
    Store(OpenError),
    /// Routes were added at what is no path.
    #[error("routes cannot be mounted at {path:?}: {reason}")]
    Mount {
        /// Where they were to stand.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The configured store keeps nothing to look after.
    #[error("siaga.store is {0:?}, which keeps nothing beyond a run: choose another, such as postgres")]
    NoUpkeep(String),
    /// No key could be made.
    #[error("{0}")]
    Random(#[from] RandomUnavailable),
}
