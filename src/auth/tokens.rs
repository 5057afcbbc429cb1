use std::fs;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{DecodingKey, Validation};

use super::jwt::{Claims, Jwt, KeySource, seconds};
use super::key_set::KeySet;
use super::{
    Credential, CredentialError, CredentialErrorKind, CredentialKind, Grant, InvalidSettings, PERSON_PREFIX,
    crypto, public_key,
};
use crate::model::{Timestamp, is_name};

/// Maximum length of a token in bytes. A token of this service has 300, one of a large issuer 2,000.
const MAX_LENGTH: usize = 16 * 1024;
/// The beginning of a key in PEM. Any other text is the path of a file.
const PEM: &str = "-----BEGIN";

#[derive(Clone, Debug)]
pub(super) struct Tokens {
    keys: Keys,
    validation: Validation,
    leeway: Duration,
}

#[derive(Clone, Debug)]
enum Keys {
    Single(Arc<DecodingKey>),
    Set(Arc<KeySet>),
}

impl Tokens {
    /// Fails if the settings have no usable key. The keys of a set are fetched later.
    pub(super) fn new(settings: &Jwt) -> Result<Self, InvalidSettings> {
        crypto::install();
        let keys = match settings.source()? {
            KeySource::Secret(secret) => {
                Keys::Single(Arc::new(DecodingKey::from_secret(secret.expose().as_bytes())))
            }
            KeySource::PublicKey(algorithm, text) => {
                let invalid = |reason: String| InvalidSettings::new("jwt.public_key", reason);
                let pem = if text.trim_start().starts_with(PEM) {
                    text.to_owned()
                } else {
                    fs::read_to_string(text).map_err(|error| {
                        invalid(format!("must be a key in PEM or the path of one; {text:?}: {error}"))
                    })?
                };
                let key = public_key::from_pem(&pem, algorithm);
                Keys::Single(Arc::new(key.map_err(|error| invalid(error.to_string()))?))
            }
            KeySource::Set(algorithm, address) => {
                Keys::Set(Arc::new(KeySet::new(address.clone(), algorithm)))
            }
        };
        Ok(Self { keys, validation: validation(settings), leeway: settings.leeway })
    }

    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Result<Credential, CredentialError> {
        let unproven = |reason| CredentialError::unproven(reason, token);
        if token.len() > MAX_LENGTH {
            return Err(unproven(CredentialErrorKind::MalformedToken));
        }
        let header =
            jsonwebtoken::decode_header(token).map_err(|_| unproven(CredentialErrorKind::MalformedToken))?;
        // Tokens with unsupported critical extensions must be rejected (RFC 7515 §4.1.11).
        if header.crit.is_some() {
            return Err(unproven(CredentialErrorKind::CriticalExtension));
        }
        // Only `kid` selects a key, and only from the configured set; `jwk`, `jku`, `x5c` and `x5u` are ignored.
        let key = match &self.keys {
            Keys::Single(key) => Arc::clone(key),
            Keys::Set(set) => {
                let key = set.choose(header.kid.as_deref());
                key.ok_or_else(|| unproven(CredentialErrorKind::UnknownTokenKey))?
            }
        };
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &self.validation)
            .map_err(|error| unproven(reason(error.kind())))?
            .claims;
        let Some(names) = claims.scope.or(claims.scp).filter(|_| is_name(&claims.sub)) else {
            return Err(unproven(CredentialErrorKind::MalformedToken));
        };
        if claims.sub.starts_with(PERSON_PREFIX) {
            return Err(CredentialError::proven(CredentialErrorKind::ReservedSubject, &claims.sub));
        }
        let leeway = self.leeway.as_secs_f64();
        let now = seconds(now);
        if claims.exp + leeway <= now {
            return Err(CredentialError::proven(CredentialErrorKind::ExpiredToken, &claims.sub));
        }
        if claims.nbf.is_some_and(|nbf| nbf > now + leeway) {
            return Err(CredentialError::proven(CredentialErrorKind::EarlyToken, &claims.sub));
        }
        let grants = vec![Grant { scopes: names.scopes(), areas: claims.areas }];
        Ok(Credential { kind: CredentialKind::Token, subject: claims.sub, quota: None, grants })
    }

    /// Refreshes a remote key set, forever. For other keys, ends immediately.
    pub(super) async fn watch(&self) {
        if let Keys::Set(set) = &self.keys {
            set.watch().await;
        }
    }
}

/// Whether a text has the three parts of a token (RFC 7515 §7.1).
pub(super) fn looks_like_a_token(text: &str) -> bool {
    text.split('.').count() == 3
}

fn reason(kind: &ErrorKind) -> CredentialErrorKind {
    match kind {
        ErrorKind::InvalidSignature => CredentialErrorKind::WrongSignature,
        ErrorKind::InvalidAlgorithm => CredentialErrorKind::WrongAlgorithm,
        ErrorKind::InvalidIssuer => CredentialErrorKind::WrongIssuer,
        ErrorKind::InvalidAudience => CredentialErrorKind::WrongAudience,
        _ => CredentialErrorKind::MalformedToken,
    }
}

/// Returns the rules for tokens. A configured issuer or audience is a required claim; otherwise the claim is not checked.
fn validation(settings: &Jwt) -> Validation {
    let mut validation = Validation::new(settings.algorithm.into());
    validation.required_spec_claims.clear();
    // `verify` checks `exp` and `nbf` against the service's clock.
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

#[cfg(test)]
mod tests {
    use jsonwebtoken::{EncodingKey, Header};
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "a secret of thirty-two bytes or more";

    fn token(secret: &str, change: Value) -> String {
        let mut claims = json!({ "sub": "ana", "scope": "admin", "exp": 2_000, "iss": "us", "aud": "siaga" });
        claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        crypto::install();
        jsonwebtoken::encode(&Header::default(), &claims, &EncodingKey::from_secret(secret.as_bytes()))
            .unwrap()
    }

    #[test]
    fn invalid_tokens_are_rejected_with_their_reason() {
        let settings = json!({ "secret": SECRET, "issuer": "us", "audience": "siaga", "leeway": "0s" });
        let tokens = Tokens::new(&serde_json::from_value(settings).unwrap()).unwrap();
        let now = Timestamp::parse("1970-01-01T00:16:40Z").unwrap();
        let good = token(SECRET, json!({}));
        assert_eq!(tokens.verify(&good, now).unwrap().subject, "ana");
        // The header is `{"typ":"JWT","alg":"HS384"}`.
        let other = format!("eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzM4NCJ9.{}", good.split_once('.').unwrap().1);
        for (token, reason, known) in [
            (token(SECRET, json!({ "exp": 1_000 })), CredentialErrorKind::ExpiredToken, true),
            (token(SECRET, json!({ "nbf": 1_001 })), CredentialErrorKind::EarlyToken, true),
            (token("another secret", json!({})), CredentialErrorKind::WrongSignature, false),
            (other, CredentialErrorKind::WrongAlgorithm, false),
            (token(SECRET, json!({ "iss": "them" })), CredentialErrorKind::WrongIssuer, false),
            (token(SECRET, json!({ "aud": "them" })), CredentialErrorKind::WrongAudience, false),
            (token(SECRET, json!({ "exp": "soon" })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "sub": "" })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "scope": null })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "scope": 1 })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "areas": null })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "areas": {} })), CredentialErrorKind::MalformedToken, false),
            (token(SECRET, json!({ "areas": { "city": [] } })), CredentialErrorKind::MalformedToken, false),
            (
                token(SECRET, json!({ "areas": { "town": ["a"] } })),
                CredentialErrorKind::MalformedToken,
                false,
            ),
            ("a.b.c".to_owned(), CredentialErrorKind::MalformedToken, false),
            ("a".repeat(MAX_LENGTH + 1), CredentialErrorKind::MalformedToken, false),
        ] {
            let refused = tokens.verify(&token, now).unwrap_err();
            assert_eq!((refused.reason, refused.credential == "ana"), (reason, known), "{token}");
            assert!(known || refused.credential.starts_with("sha256 "), "{refused:?}");
        }
    }

    #[test]
    fn scopes_are_text_or_lists_under_either_name() {
        let tokens = Tokens::new(&serde_json::from_value(json!({ "secret": SECRET })).unwrap()).unwrap();
        let now = Timestamp::parse("1970-01-01T00:16:40Z").unwrap();
        let both = &["floods:write", "cards:read"][..];
        for (claims, expected) in [
            (json!({ "scope": "floods:write openid cards:read" }), both),
            (json!({ "scope": ["floods:write", "openid", "cards:read"] }), both),
            (json!({ "scope": null, "scp": "floods:write cards:read" }), both),
            (json!({ "scope": null, "scp": ["floods:write", "cards:read"] }), both),
            (json!({ "scope": "cards:read", "scp": ["admin"] }), &["cards:read"]),
            (json!({ "scope": ["floods:write cards:read"] }), &[]),
        ] {
            let grants = tokens.verify(&token(SECRET, claims.clone()), now).unwrap().grants;
            let names: Vec<_> = grants[0].scopes.iter().map(|scope| scope.name()).collect();
            assert_eq!(names, expected, "{claims}");
        }
    }
}
