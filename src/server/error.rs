use std::io;
use std::net::SocketAddr;

use rocket::error::ErrorKind;

use crate::auth::InvalidSettings;
use crate::auth::RandomUnavailable;
use crate::config::ConfigError;
use crate::data::folder::DatasetError;
use crate::formats::InvalidFormats;
use crate::stores::{OpenError, UnknownStore};

/// Why a server stopped or could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The server could not be built.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// Rocket failed.
    // The error's `Display` would print the whole configuration.
    #[error("{}", .0.kind())]
    Rocket(Box<rocket::Error>),
    /// The server cannot listen on the address and port.
    #[error("cannot listen on {address}: {error}{}", advice(.error))]
    Bind {
        /// The address and the port.
        address: SocketAddr,
        /// The cause.
        error: io::Error,
    },
    /// The store failed permanently.
    #[error("{0}")]
    Store(OpenError),
    /// The server cannot listen on the port that redirects to HTTPS.
    #[error("siaga.https.redirect_from: port {port}: {error}")]
    Redirect {
        /// The port.
        port: u16,
        /// The cause.
        error: io::Error,
    },
    /// The server cannot receive signals.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// A second signal ended the server immediately.
    #[error("ended at once by a second signal; requests under way were not answered")]
    Stopped,
}

impl LaunchError {
    pub(super) fn from_rocket(error: rocket::Error, address: SocketAddr) -> Self {
        match error.kind() {
            ErrorKind::Bind(cause) => {
                Self::Bind { address, error: io::Error::new(cause.kind(), cause.to_string()) }
            }
            _ => Self::Rocket(Box::new(error)),
        }
    }
}

/// Returns what to do about an address that cannot be bound, as the end of a sentence; empty if unknown.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; end the program that listens there, or change the port (ROCKET_PORT, or port under [default])"
        }
        io::ErrorKind::AddrNotAvailable => {
            "; this machine does not have the address: change it (ROCKET_ADDRESS, or address under [default])"
        }
        io::ErrorKind::PermissionDenied => {
            "; choose a port above 1023 (ROCKET_PORT, or port under [default]), or give the program CAP_NET_BIND_SERVICE"
        }
        _ => "",
    }
}

/// Why a server could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The configuration is invalid.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The section `auth` is invalid.
    #[error("{0}")]
    Auth(#[from] InvalidSettings),
    /// The configuration contains an unknown store.
    #[error("{0}")]
    UnknownStore(#[from] UnknownStore),
    /// The configuration contains unknown formats, or invalid settings for formats.
    #[error("{0}")]
    Formats(#[from] InvalidFormats),
    /// The base map is invalid.
    #[error("siaga.map.basemap.file: {0}")]
    Basemap(#[from] DatasetError),
    /// The store could not be opened.
    #[error("{0}")]
    Store(OpenError),
    /// Routes were added at an invalid path.
    #[error("routes cannot be mounted at {path:?}: {reason}")]
    Mount {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The configured store is temporary, so it needs no maintenance.
    #[error(
        "siaga.store is {0:?}, which keeps nothing beyond a run, so there is nothing to ask or to look after: choose another, such as postgres"
    )]
    NoUpkeep(String),
    /// The configured store persists no API keys.
    #[error("siaga.store is {0:?}, which keeps no API keys: list them under siaga.auth.api_keys")]
    NoKeys(String),
    /// The operating system has no random numbers for a key.
    #[error("{0}")]
    Random(#[from] RandomUnavailable),
}
