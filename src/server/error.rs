use std::io;
use std::net::SocketAddr;

use rocket::error::ErrorKind;

use crate::auth::InvalidSettings;
use crate::auth::RandomUnavailable;
use crate::config::ConfigError;
use crate::formats::InvalidFormats;
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
    Rocket(Box<rocket::Error>),
    /// The address and port cannot be listened on.
    #[error("cannot listen on {address}: {error}{}", advice(.error))]
    Bind {
        /// The address and the port.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
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

impl LaunchError {
    /// The error of a server that was to listen on `address`.
    pub(super) fn of_rocket(error: rocket::Error, address: SocketAddr) -> Self {
        match error.kind() {
            ErrorKind::Bind(cause) => {
                Self::Bind { address, error: io::Error::new(cause.kind(), cause.to_string()) }
            }
            _ => Self::Rocket(Box::new(error)),
        }
    }
}

/// What to do when an address cannot be listened on.
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
    #[error(
        "siaga.store is {0:?}, which keeps nothing beyond a run, so there is nothing to ask or to look after: choose another, such as postgres"
    )]
    NoUpkeep(String),
    /// The configured store keeps the data, but no API keys.
    #[error("siaga.store is {0:?}, which keeps no API keys: list them under siaga.auth.api_keys")]
    NoKeys(String),
    /// No key could be made.
    #[error("{0}")]
    Random(#[from] RandomUnavailable),
}
