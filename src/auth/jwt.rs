use std::time::Duration;

use jsonwebtoken::{EncodingKey, Header};
use serde::{Deserialize, Serialize};

use super::algorithm::PublicAlgorithm;
use super::{Algorithm, InvalidSettings, JwksUrl, Scope, Secret, crypto};
use crate::model::Timestamp;
use crate::model::duration;

/// How tokens are signed and verified (RFC 7519). Exactly one of `secret`, `public_key` and `jwks_url` is required.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jwt {
    /// The algorithm; the one in a token's header is not trusted. **Default: `HS256`**
    #[serde(default)]
    pub algorithm: Algorithm,
    /// The secret for HS256. RFC 7518 §3.2 requires at least 32 bytes. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// The public key for the other algorithms: in PEM, or the path of a PEM file. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The address of a JSON Web Key Set (RFC 7517), by HTTPS, fetched every ten minutes and when a token names an unknown key.
    /// **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) jwks_url: Option<JwksUrl>,
    /// The `iss` that a token must have. **Default: any or none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The `aud` that a token must contain. **Default: any or none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How far the clocks of issuer and service may differ. **Default: `30s`**
    #[serde(default = "Jwt::default_leeway", with = "duration")]
    pub leeway: Duration,
}

/// The claims of a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The holder of the token.
    pub sub: String,
    /// What it allows: names of scopes. Unknown ones allow nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeNames>,
    /// The same, as Microsoft Entra ID and Okta call it. It counts without `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scp: Option<ScopeNames>,
    /// When it expires, in seconds since 1970, possibly with a fraction.
    pub exp: f64,
    /// Before this time it is not accepted, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<f64>,
    /// The issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// The recipients: one name or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<Audience>,
}

/// Names of scopes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ScopeNames {
    /// Separated by spaces (RFC 8693 §4.2).
    Text(String),
    /// As a list.
    List(Vec<String>),
}

impl ScopeNames {
    /// Returns the scopes that this service knows.
    pub(super) fn known(&self) -> Vec<Scope> {
        let names: Vec<&str> = match self {
            Self::Text(names) => names.split(' ').collect(),
            Self::List(names) => names.iter().map(String::as_str).collect(),
        };
        names.into_iter().filter_map(|name| name.parse().ok()).collect()
    }
}

/// One name or several.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Audience {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

const ONLY_ONE: &str = "only one of secret, public_key and jwks_url may be given";

/// Why a token could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum TokenError {
    /// The service has only public keys.
    #[error("siaga.auth.jwt.secret: needed to sign a token; public keys only verify those that others sign")]
    NoSecret,
    /// The signing failed.
    #[error("the token could not be made")]
    Unsigned(#[from] jsonwebtoken::errors::Error),
}

/// The source of the keys that verify tokens.
#[derive(Clone, Debug)]
pub(super) enum KeySource<'a> {
    Secret(&'a Secret),
    PublicKey(PublicAlgorithm, &'a str),
    Set(PublicAlgorithm, &'a JwksUrl),
}

impl Jwt {
    /// The shortest secret that RFC 7518 §3.2 allows, in bytes.
    pub(crate) const SHORTEST_SECRET: usize = 32;

    fn default_leeway() -> Duration {
        Duration::from_secs(30)
    }

    /// Returns the source of the keys: exactly one must be configured, and it must fit the algorithm.
    pub(super) fn source(&self) -> Result<KeySource<'_>, InvalidSettings> {
        let public = self.algorithm.public();
        let unfit = |name, allowed| {
            let reason = format!("must be {allowed} with siaga.auth.jwt.{name}, not {:?}", self.algorithm);
            Err(InvalidSettings::new("jwt.algorithm", reason))
        };
        let with_public_key = "one of [RS256, ES256, EdDSA]";
        match (&self.secret, &self.public_key, &self.jwks_url) {
            (Some(secret), None, None) => match public {
                None => Ok(KeySource::Secret(secret)),
                Some(_) => unfit("secret", "HS256"),
            },
            (None, Some(key), None) => match public {
                Some(algorithm) => Ok(KeySource::PublicKey(algorithm, key)),
                None => unfit("public_key", with_public_key),
            },
            (None, None, Some(address)) => match public {
                Some(algorithm) => Ok(KeySource::Set(algorithm, address)),
                None => unfit("jwks_url", with_public_key),
            },
            (None, None, None) if public.is_none() => {
                Err(InvalidSettings::new("jwt.secret", "missing; HS256 needs it"))
            }
            (None, None, None) => {
                let reason = format!("missing; {:?} needs it or siaga.auth.jwt.jwks_url", self.algorithm);
                Err(InvalidSettings::new("jwt.public_key", reason))
            }
            (_, _, Some(_)) => Err(InvalidSettings::new("jwt.jwks_url", ONLY_ONE)),
            _ => Err(InvalidSettings::new("jwt.public_key", ONLY_ONE)),
        }
    }

    /// Makes a token that is accepted from now on, for `lifetime`.
    ///
    /// # Errors
    ///
    /// [`TokenError::NoSecret`] if the configuration has only public keys; another [`TokenError`] if the token cannot be
    /// signed.
    pub(crate) fn issue(
        &self,
        subject: &str,
        scopes: &[Scope],
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
            exp: seconds(now.after(lifetime)).floor(),
            nbf: None,
            iss: self.issuer.clone(),
            aud: self.audience.clone().map(Audience::One),
        };
        let key = EncodingKey::from_secret(secret.expose().as_bytes());
        Ok(jsonwebtoken::encode(&Header::new(self.algorithm.into()), &claims, &key)?)
    }
}

/// Returns the seconds since 1970.
pub(super) fn seconds(moment: Timestamp) -> f64 {
    moment.to_utc().timestamp_millis() as f64 / 1000.0
}
