use std::fs;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::{DecodingKey, Validation};

use super::jwt::{Claims, Jwt, KeySource, seconds};
use super::key_set::KeySet;
use super::{Credential, CredentialKind, InvalidSettings, crypto, public_key};
use crate::model::{Timestamp, is_name};

/// The longest token that is looked at, in bytes: one of ours has 300, one of a large issuer 2,000.
const LONGEST: usize = 16 * 1024;
/// What begins a key in PEM; anything else is the path of a file.
const PEM: &str = "-----BEGIN";

/// Verifies tokens.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    keys: Keys,
    validation: Validation,
    leeway: Duration,
}

#[derive(Clone, Debug)]
enum Keys {
    One(Arc<DecodingKey>),
    Set(Arc<KeySet>),
}

impl Tokens {
    /// Verifies as the settings say. Reads the files they name.
    pub(super) fn new(settings: &Jwt) -> Result<Self, InvalidSettings> {
        crypto::install();
        let keys = match settings.source()? {
            KeySource::Secret(secret) => {
                Keys::One(Arc::new(DecodingKey::from_secret(secret.expose().as_bytes())))
            }
            KeySource::PublicKey(algorithm, text) => {
                let wrong = |reason: String| InvalidSettings::new("jwt.public_key", reason);
                let pem = if text.trim_start().starts_with(PEM) {
                    text.to_owned()
                } else {
                    fs::read_to_string(text).map_err(|error| {
                        wrong(format!("must be a key in PEM or the path of one; {text:?}: {error}"))
                    })?
                };
                let key = public_key::from_pem(&pem, algorithm);
                Keys::One(Arc::new(key.map_err(|unfit| wrong(unfit.to_string()))?))
            }
            KeySource::Set(algorithm, path) => {
                let set = KeySet::open(path, algorithm);
                Keys::Set(Arc::new(set.map_err(|broken| InvalidSettings::new("jwt.jwks", broken))?))
            }
        };
        Ok(Self { keys, validation: validation(settings), leeway: settings.leeway })
    }

    /// What the holder of the token may do; `None` when it is not accepted at `now`.
    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Option<Credential> {
        if token.len() > LONGEST {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        // Whoever does not understand what a token calls critical must refuse it (RFC 7515 §4.1.11).
        if header.crit.is_some() {
            return None;
        }
        // Of all the ways a header can name a key only this one counts, and it names one of those that are known.
        let key = match &self.keys {
            Keys::One(key) => Arc::clone(key),
            Keys::Set(set) => set.choose(header.kid.as_deref())?,
        };
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &self.validation).ok()?.claims;
        let leeway = self.leeway.as_secs_f64();
        let now = seconds(now);
        let in_time = now < claims.exp + leeway && claims.nbf.is_none_or(|nbf| nbf <= now + leeway);
        let scopes = claims.scope.split(' ').filter_map(|name| name.parse().ok()).collect();
        let kind = CredentialKind::Token;
        (in_time && is_name(&claims.sub)).then_some(Credential {
            kind,
            subject: claims.sub,
            quota: None,
            scopes,
        })
    }

    /// Follows the keys while they change; never ends when they can.
    pub(super) async fn watch(&self) {
        if let Keys::Set(set) = &self.keys {
            Arc::clone(set).watch().await;
        }
    }
}

fn validation(settings: &Jwt) -> Validation {
    let mut validation = Validation::new(settings.algorithm.into());
    validation.required_spec_claims.clear();
    // Judged by `verify` itself, by the service's clock.
    validation.validate_exp = false;
    validation.validate_nbf = false;
    if let Some(issuer) = &settings.issuer {
        validation.set_issuer(&[issuer]);
        validation.required_spec_claims.insert("iss".to_owned());
    }
    match &settings.audience {
        Some(audience) => {
            validation.set_audience(&[audience]);
            validation.required_spec_claims.insert("aud".to_owned());
        }
        None => validation.validate_aud = false,
    }
    validation
}
