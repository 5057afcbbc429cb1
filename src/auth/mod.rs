//! Who may do what: API keys, JSON Web Tokens and their scopes. Knows nothing of requests, nor of stores: keys that are
//! kept in one are in the [`KeyRing`], which somebody above fills.

mod algorithm;
mod api_key;
mod credential;
mod crypto;
mod invalid;
mod jwt;
mod key_ring;
mod key_set;
mod public_key;
mod scope;
mod secret;
mod tokens;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::algorithm::Algorithm;
pub use self::api_key::{ApiKey, InvalidDigest, KeyDigest, NewKey};
pub use self::credential::{Credential, CredentialKind, OwnQuota};
pub use self::invalid::InvalidSettings;
pub use self::jwt::{Audience, Claims, Jwt, TokenError};
pub use self::key_ring::KeyRing;
pub use self::scope::{Scope, UnknownScope};
pub use self::secret::Secret;
use self::tokens::Tokens;
use crate::model::Clock;

/// The section `auth` of the configuration: which credentials are accepted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The accepted API keys; those kept in the store are accepted besides. **Default: none**
    pub api_keys: Vec<ApiKey>,
    /// How tokens are verified. **Default: none is accepted**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwt: Option<Jwt>,
}

/// Verifies credentials.
#[derive(Clone, Debug)]
pub struct Authenticator {
    api_keys: Arc<[ApiKey]>,
    ring: Arc<KeyRing>,
    tokens: Option<Tokens>,
    clock: Arc<dyn Clock>,
}

impl Authenticator {
    /// Accepts what `settings` accept, at the time `clock` tells, and what its [`ring`](Self::ring) holds. Reads the files
    /// with public keys.
    ///
    /// # Errors
    ///
    /// When the settings contradict each other, or a file is not as it must be.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, InvalidSettings> {
        let tokens = settings.jwt.as_ref().map(Tokens::new).transpose()?;
        let ring = Arc::new(KeyRing::beside(&settings.api_keys));
        Ok(Self { api_keys: settings.api_keys.into(), ring, tokens, clock })
    }

    /// The keys it accepts besides those of the settings; none until it is filled.
    #[must_use]
    pub fn ring(&self) -> &Arc<KeyRing> {
        &self.ring
    }

    /// Verifies a token; `None` for whatever reason it is not accepted.
    #[must_use]
    pub fn token(&self, token: &str) -> Option<Credential> {
        self.tokens.as_ref()?.verify(token, self.clock.now())
    }

    /// Verifies an API key, or else a token.
    ///
    /// Takes the same time whichever of the configured keys it is, or none.
    #[must_use]
    pub fn key_or_token(&self, text: &str) -> Option<Credential> {
        let digest = KeyDigest::of(text);
        let now = self.clock.now();
        if let Some(key) = api_key::search(&*self.api_keys, &digest) {
            return key.credential(now);
        }
        let Some(key) = self.ring.get(&digest) else { return self.token(text) };
        let credential = key.credential(now)?;
        self.ring.note_use(&key, now);
        Some(credential)
    }

    /// Follows the file with public keys while it changes. Never ends where one is configured.
    pub async fn watch(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.watch().await;
        }
    }
}
