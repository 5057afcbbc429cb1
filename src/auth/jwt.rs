use std::time::Duration;

use jsonwebtoken::{EncodingKey, Header};
use serde::{Deserialize, Serialize};

use super::algorithm::PublicAlgorithm;
use super::api_key::area_rule;
use super::{Algorithm, InvalidSettings, Scope, Secret, SecureUrl, crypto};
use crate::model::duration;
use crate::model::{AreaRule, Timestamp};

/// The settings of tokens (RFC 7519). Exactly one of `secret`, `public_key` and `jwks_url` is required.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jwt {
    /// The algorithm. The algorithm in a token's header is not trusted. **Default: `HS256`**
    #[serde(default)]
    pub algorithm: Algorithm,
    /// The secret for HS256. RFC 7518 §3.2 requires at least 32 bytes. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// The public key for the other algorithms: PEM, or the path of a PEM file. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The HTTPS address of a JSON Web Key Set (RFC 7517), fetched every ten minutes and after a token with an unknown key.
    /// **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) jwks_url: Option<SecureUrl>,
    /// The required `iss`. **Default: none, `iss` is not checked**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The required `aud`. **Default: none, `aud` is not checked**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How far the clocks of issuer and service may differ. **Default: `30s`**
    #[serde(default = "Jwt::default_leeway", with = "duration")]
    pub leeway: Duration,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub sub: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeNames>,
    /// The name of `scope` in Microsoft Entra ID and Okta. Ignored if `scope` is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scp: Option<ScopeNames>,
    /// The areas in which the scopes apply; all areas if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "area_rule")]
    pub areas: Option<AreaRule>,
    /// In seconds since 1970, possibly with a fraction.
    pub exp: f64,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<Audience>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ScopeNames {
    /// Names separated by spaces (RFC 8693 §4.2).
    Text(String),
    List(Vec<String>),
}

impl ScopeNames {
    pub(super) fn scopes(&self) -> Vec<Scope> {
        let names: Vec<&str> = match self {
            Self::Text(names) => names.split(' ').collect(),
            Self::List(names) => names.iter().map(String::as_str).collect(),
        };
        names.into_iter().filter_map(|name| name.parse().ok()).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Audience {
    One(String),
    Several(Vec<String>),
}

const EXCLUSIVE: &str = "only one of secret, public_key and jwks_url may be given";

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum TokenError {
    #[error("siaga.auth.jwt.secret: needed to sign a token; public keys only verify those that others sign")]
    NoSecret,
    #[error("the token could not be made")]
    Unsigned(#[from] jsonwebtoken::errors::Error),
}

#[derive(Clone, Debug)]
pub(super) enum KeySource<'a> {
    Secret(&'a Secret),
    PublicKey(PublicAlgorithm, &'a str),
    Set(PublicAlgorithm, &'a SecureUrl),
}

impl Jwt {
    /// The minimum length of a secret in bytes (RFC 7518 §3.2).
    pub(crate) const SHORTEST_SECRET: usize = 32;

    fn default_leeway() -> Duration {
        Duration::from_secs(30)
    }

    pub(super) fn source(&self) -> Result<KeySource<'_>, InvalidSettings> {
        let public = self.algorithm.public();
        let mismatch = |name, allowed| {
            let reason = format!("must be {allowed} with siaga.auth.jwt.{name}, not {:?}", self.algorithm);
            Err(InvalidSettings::new("jwt.algorithm", reason))
        };
        let with_public_key = "one of [RS256, ES256, EdDSA]";
        match (&self.secret, &self.public_key, &self.jwks_url) {
            (Some(secret), None, None) => match public {
                None => Ok(KeySource::Secret(secret)),
                Some(_) => mismatch("secret", "HS256"),
            },
            (None, Some(key), None) => match public {
                Some(algorithm) => Ok(KeySource::PublicKey(algorithm, key)),
                None => mismatch("public_key", with_public_key),
            },
            (None, None, Some(address)) => match public {
                Some(algorithm) => Ok(KeySource::Set(algorithm, address)),
                None => mismatch("jwks_url", with_public_key),
            },
            (None, None, None) if public.is_none() => {
                Err(InvalidSettings::new("jwt.secret", "missing; HS256 needs it"))
            }
            (None, None, None) => {
                let reason = format!("missing; {:?} needs it or siaga.auth.jwt.jwks_url", self.algorithm);
                Err(InvalidSettings::new("jwt.public_key", reason))
            }
            (_, _, Some(_)) => Err(InvalidSettings::new("jwt.jwks_url", EXCLUSIVE)),
            _ => Err(InvalidSettings::new("jwt.public_key", EXCLUSIVE)),
        }
    }

    /// Creates a token that is valid from now on. Fails if the configuration has only public keys.
    pub(crate) fn issue(
        &self,
        subject: &str,
        scopes: &[Scope],
        areas: Option<AreaRule>,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<String, TokenError> {
        crypto::install();
        let secret = self.secret.as_ref().ok_or(TokenError::NoSecret)?;
        let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
        let claims = Claims {
            sub: subject.to_owned(),
            scope: Some(ScopeNames::Text(names.join(" "))),
            scp: None,
            areas,
            exp: seconds(now.saturating_add(lifetime)).floor(),
            nbf: None,
            iss: self.issuer.clone(),
            aud: self.audience.clone().map(Audience::One),
        };
        let key = EncodingKey::from_secret(secret.expose().as_bytes());
        Ok(jsonwebtoken::encode(&Header::new(self.algorithm.into()), &claims, &key)?)
    }
}

pub(super) fn seconds(moment: Timestamp) -> f64 {
    moment.to_utc().timestamp_millis() as f64 / 1000.0
}
