//! Assembles a server from configuration, store, formats, fairings and routes.

mod assembly;
mod builder;
mod error;
mod launch;
mod middleware;
mod redirect;
mod reload;
mod signals;
mod templates;
mod tls;

use std::fmt;
use std::sync::Arc;

use rocket::futures::future::BoxFuture;
use rocket::{Build, Rocket};

pub use self::builder::Builder;
pub use self::error::{BuildError, LaunchError};
pub use self::reload::{Reload, Reloader};
use self::templates::Templates;
use crate::auth::Secret;
use crate::config::Config;
use crate::formats::FormatRegistry;
use crate::http::fairings::Draining;
use crate::stores::{OpenError, Store};
use crate::tasks::{SourceWatch, StoredKeys};

/// A server ready to launch.
#[non_exhaustive]
pub struct Siaga {
    /// The Rocket instance.
    pub rocket: Rocket<Build>,
    /// The configuration of the server.
    pub config: Config,
    /// The store of the server.
    pub store: Arc<dyn Store>,
    /// The formats of the server.
    pub formats: FormatRegistry,
    pub(crate) key: Option<Secret>,
    /// Resolves if the store fails permanently.
    pub failure: Option<BoxFuture<'static, OpenError>>,
    pub(crate) reloading: Reloader,
    pub(crate) draining: Draining,
    pub(crate) stored_keys: StoredKeys,
    pub(crate) source_watch: SourceWatch,
}

impl Siaga {
    /// Returns a builder with the configuration of `Rocket.toml` and the environment.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl fmt::Debug for Siaga {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = format_args!("{}", self.store);
        f.debug_struct("Siaga").field("store", &store).field("config", &self.config).finish_non_exhaustive()
    }
}
