//! Who may do what: API keys, JSON Web Tokens and their scopes. Knows nothing of requests.

mod api_key;
mod crypto;
mod jwt;
mod scope;
mod secret;

use std::num::NonZeroU32;
use std::sync::Arc;

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};

pub use self::api_key::{ApiKey, KeyDigest, NewKey};
pub use self::jwt::{Algorithm, Claims, Jwt, TokenError};
pub use self::scope::{Scope, UnknownScope};
pub use self::secret::Secret;
use crate::model::Clock;

/// The section `auth` of the configuration: which credentials are accepted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The accepted API keys. **Default: none**
    pub api_keys: Vec<ApiKey>,
    /// How tokens are verified. **Default: none is accepted**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwt: Option<Jwt>,
}

impl Settings {
    /// Whether no credential at all is accepted.
    #[must_use]
    pub fn accepts_nobody(&self) -> bool {
        self.api_keys.is_empty() && self.jwt.is_none()
    }
}

/// What a caller proved to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The name of the API key or the `sub` of the token.
    pub subject: String,
    scopes: Vec<Scope>,
}

impl Credential {
    /// The quota of its own; `None` for that of all.
    #[must_use]
    pub fn quota(&self) -> Option<OwnQuota> {
        None
    }

    /// Whether the credential covers the scope; [`Scope::Admin`] covers all.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|&own| own == scope || own == Scope::Admin)
    }
}

/// How many requests whoever holds a credential may send, where it is not the configured number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnQuota {
    /// Requests a second. **Default: as configured for all**
    pub per_second: Option<NonZeroU32>,
    /// Requests a day. **Default: as configured for all**
    pub per_day: Option<NonZeroU32>,
}

/// Verifies credentials. Clones share what is accepted.
#[derive(Clone, Debug)]
pub struct Authenticator {
    settings: Arc<ArcSwap<Settings>>,
    clock: Arc<dyn Clock>,
}

impl Authenticator {
    /// Accepts what `settings` accept, at the time `clock` tells.
    #[must_use]
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        crypto::install();
        Self { settings: Arc::new(ArcSwap::from_pointee(settings)), clock }
    }

    /// Accepts what `settings` accept from now on, and nothing else.
    pub fn accept(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    /// Verifies a token; `None` for whatever reason it is not accepted.
    #[must_use]
    pub fn token(&self, token: &str) -> Option<Credential> {
        self.settings.load().jwt.as_ref()?.verify(token, self.clock.now())
    }

    /// Verifies an API key, or else a token.
    ///
    /// Takes the same time whichever of the keys it is, or none.
    #[must_use]
    pub fn key_or_token(&self, text: &str) -> Option<Credential> {
        let digest = KeyDigest::of(text);
        let settings = self.settings.load();
        let keys = settings.api_keys.iter();
        let known = keys.fold(None, |found, key| if key.sha256 == digest { Some(key) } else { found });
        match known {
            Some(key) => key.credential(self.clock.now()),
            None => self.token(text),
        }
    }
}
