//! Authentication and authorisation: API keys, JSON Web Tokens and their scopes. Depends on neither requests nor stores: a task
//! fills the `KeyRing` with the keys of the store.

mod algorithm;
mod api_key;
mod credential;
mod credential_error;
mod crypto;
mod fetch;
mod invalid_settings;
mod jwt;
mod key_ring;
mod key_set;
pub(crate) mod oidc;
mod public_key;
pub(crate) mod random;
mod scope;
mod secret;
mod secure_url;
mod tokens;

use std::sync::Arc;

use arc_swap::ArcSwap;
use rocket::futures::future;
use rocket::tokio::select;
use rocket::tokio::sync::Notify;
use serde::{Deserialize, Serialize};

pub(crate) use self::algorithm::Algorithm;
pub use self::api_key::{ApiKey, InvalidDigest, KeyDigest, NewKey};
pub use self::credential::{Credential, CredentialKind, Grant, OwnQuota};
pub(crate) use self::credential_error::{CredentialError, CredentialErrorKind};
pub use self::invalid_settings::InvalidSettings;
pub(crate) use self::jwt::{Jwt, TokenError};
use self::key_ring::KeyLookup;
pub(crate) use self::key_ring::KeyRing;
use self::oidc::{OidcSettings, RelyingParty};
pub use self::random::RandomUnavailable;
pub use self::scope::{Scope, UnknownScope};
pub use self::secret::Secret;
pub(crate) use self::secure_url::SecureUrl;
use self::tokens::{Tokens, looks_like_a_token};
use crate::model::Clock;

/// The beginning of the subject of a person who logged in with OpenID Connect. No key or token has such a subject.
pub const PERSON_PREFIX: &str = "oidc:";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// API keys in addition to those in the store. **Default: none**
    pub api_keys: Vec<ApiKey>,
    /// The verification of tokens. **Default: no tokens are accepted**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jwt: Option<Jwt>,
    /// The login of people at the desk. **Default: only keys log in**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oidc: Option<OidcSettings>,
}

impl Settings {
    pub(crate) fn grants(&self) -> impl Iterator<Item = (String, Grant)> {
        let keys = self.api_keys.iter().map(|key| (key.holder(), key.grant()));
        keys.chain(self.oidc.iter().flat_map(OidcSettings::grants))
    }

    #[must_use]
    pub(crate) fn accepts_nobody(&self) -> bool {
        self.api_keys.is_empty() && self.jwt.is_none() && self.oidc.is_none()
    }

    /// Checks that all keys have different names and digests. Names identify authors in logs, and digests select scopes.
    fn check_keys(&self) -> Result<(), InvalidSettings> {
        for (index, key) in self.api_keys.iter().enumerate() {
            if key.name.starts_with(PERSON_PREFIX) {
                let reason = format!("must not begin with {PERSON_PREFIX:?}, which is for people who log in");
                return Err(InvalidSettings::new(&format!("api_keys.{index}.name"), reason));
            }
            for (other, earlier) in self.api_keys[..index].iter().enumerate() {
                if key.name == earlier.name {
                    let reason = format!("must differ from the name of api_keys.{other}, {:?}", earlier.name);
                    return Err(InvalidSettings::new(&format!("api_keys.{index}.name"), reason));
                }
                if key.sha256 == earlier.sha256 {
                    let reason =
                        format!("must differ from the digest of api_keys.{other}, {:?}", earlier.name);
                    return Err(InvalidSettings::new(&format!("api_keys.{index}.sha256"), reason));
                }
            }
        }
        Ok(())
    }
}

/// Verifies credentials. Clones share the accepted credentials.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    accepted: Arc<ArcSwap<AcceptedCredentials>>,
    changed: Arc<Notify>,
    ring: Arc<KeyRing>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct AcceptedCredentials {
    api_keys: Vec<ApiKey>,
    tokens: Option<Tokens>,
    relying_party: Option<Arc<RelyingParty>>,
}

impl AcceptedCredentials {
    fn new(settings: Settings) -> Result<Self, InvalidSettings> {
        settings.check_keys()?;
        let tokens = settings.jwt.as_ref().map(Tokens::new).transpose()?;
        let relying_party = settings.oidc.as_ref().map(RelyingParty::new).transpose()?.map(Arc::new);
        Ok(Self { api_keys: settings.api_keys, tokens, relying_party })
    }
}

impl Authenticator {
    /// Creates an authenticator for the credentials in `settings`, and for those in its [`ring`](Self::ring). `clock` decides on
    /// expiry. Reads the files of public keys. Fails if the settings contradict each other, or a file is invalid.
    pub(crate) fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, InvalidSettings> {
        let ring = Arc::new(KeyRing::new(&settings.api_keys));
        let accepted = Arc::new(ArcSwap::from_pointee(AcceptedCredentials::new(settings)?));
        Ok(Self { accepted, changed: Arc::default(), ring, clock })
    }

    /// Replaces the credentials of the settings, but not those in the [`ring`](Self::ring). Reads the files of public keys again.
    /// After an error, nothing changes.
    pub(crate) fn update(&self, settings: Settings) -> Result<(), InvalidSettings> {
        let accepted = AcceptedCredentials::new(settings)?;
        self.ring.set_configured(&accepted.api_keys);
        self.accepted.store(Arc::new(accepted));
        self.changed.notify_one();
        Ok(())
    }

    #[must_use]
    pub(crate) fn ring(&self) -> &Arc<KeyRing> {
        &self.ring
    }

    pub(crate) fn relying_party(&self) -> Option<Arc<RelyingParty>> {
        self.accepted.load().relying_party.clone()
    }

    pub(crate) fn verify_token(&self, token: &str) -> Result<Credential, CredentialError> {
        let accepted = self.accepted.load();
        let tokens = accepted
            .tokens
            .as_ref()
            .ok_or_else(|| CredentialError::unproven(CredentialErrorKind::NoTokens, token))?;
        tokens.verify(token, self.clock.now())
    }

    /// Verifies an API key, or else a token. Comparing with the configured keys always takes the same time, no matter
    /// whether or where one matches. Clients must not see the error.
    pub(crate) fn verify_key_or_token(&self, text: &str) -> Result<Credential, CredentialError> {
        let digest = KeyDigest::new(text);
        let now = self.clock.now();
        if let Some(key) = api_key::find_key(&self.accepted.load().api_keys, &digest) {
            return key.credential(now);
        }
        match self.ring.get(&digest) {
            KeyLookup::Key(key) => {
                let credential = key.credential(now)?;
                self.ring.note_use(&key, now);
                Ok(credential)
            }
            KeyLookup::Unusable(error) => Err(error),
            KeyLookup::Nothing if looks_like_a_token(text) => self.verify_token(text),
            KeyLookup::Nothing => Err(CredentialError::unproven(CredentialErrorKind::UnknownKey, text)),
        }
    }

    /// Refreshes fetched keys, also after the settings change. Never ends.
    pub(crate) async fn watch(&self) {
        loop {
            let accepted = self.accepted.load_full();
            let watch = async {
                match &accepted.tokens {
                    Some(tokens) => tokens.watch().await,
                    None => future::pending().await,
                }
            };
            select! {
                // Keys that are not fetched change only with the settings.
                () = watch => self.changed.notified().await,
                () = self.changed.notified() => {}
            }
        }
    }
}
