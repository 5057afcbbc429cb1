use std::path::PathBuf;
use std::time::Duration;

use jsonwebtoken::{EncodingKey, Header};
use serde::{Deserialize, Serialize};

use super::algorithm::PublicAlgorithm;
use super::{Algorithm, InvalidSettings, Scope, Secret, crypto};
use crate::model::Timestamp;
use crate::model::duration;

/// How tokens are signed and verified (RFC 7519). One of `secret`, `public_key` and `jwks` must be given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// The algorithm; what a token says of itself does not count. **Default: `HS256`**
    #[serde(default)]
    pub algorithm: Algorithm,
    /// The secret of HS256. RFC 7518 §3.2 asks for 32 bytes or more. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// The public key of another algorithm: in PEM, or the path of a file that holds it so. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The path of a file of public keys, a JSON Web Key Set (RFC 7517), read anew when it changes. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<PathBuf>,
    /// The `iss` a token must have. **Default: any or none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// An `aud` a token must have. **Default: any or none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How far the clocks of issuer and service may differ. **Default: `30s`**
    #[serde(default = "Jwt::default_leeway", with = "duration")]
    pub leeway: Duration,
}

/// What a token says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claims {
    /// Who holds the token.
    pub sub: String,
    /// What it allows: names of scopes with blanks between them. Unknown ones allow nothing.
    pub scope: String,
    /// When it expires, in seconds since 1970, possibly with a fraction.
    pub exp: f64,
    /// Before when it is not accepted, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<f64>,
    /// Who issued it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// Whom it is for: one name or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<Audience>,
}

/// One name or several.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// A token could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The service knows public keys only.
    #[error("siaga.auth.jwt.secret: needed to sign a token; public keys only verify those that others sign")]
    NoSecret,
    /// The signing failed.
    #[error("the token could not be made")]
    Unsigned(#[from] jsonwebtoken::errors::Error),
}

/// What tokens are verified by.
#[derive(Clone, Debug)]
pub(super) enum KeySource<'a> {
    Secret(&'a Secret),
    PublicKey(PublicAlgorithm, &'a str),
    Set(PublicAlgorithm, &'a PathBuf),
}

impl Jwt {
    /// The shortest secret RFC 7518 §3.2 allows, in bytes.
    pub const SHORTEST_SECRET: usize = 32;

    fn default_leeway() -> Duration {
        Duration::from_secs(30)
    }

    /// What tokens are verified by: the one source there must be, when it fits the algorithm.
    pub(super) fn source(&self) -> Result<KeySource<'_>, InvalidSettings> {
        let public = self.algorithm.public();
        let unfit = |name, allowed| {
            let reason = format!("must be {allowed} with siaga.auth.jwt.{name}, not {:?}", self.algorithm);
            Err(InvalidSettings::new("jwt.algorithm", reason))
        };
        let with_public_key = "one of [RS256, ES256, EdDSA]";
        match (&self.secret, &self.public_key, &self.jwks) {
            (Some(secret), None, None) => match public {
                None => Ok(KeySource::Secret(secret)),
                Some(_) => unfit("secret", "HS256"),
            },
            (None, Some(key), None) => match public {
                Some(algorithm) => Ok(KeySource::PublicKey(algorithm, key)),
                None => unfit("public_key", with_public_key),
            },
            (None, None, Some(path)) => match public {
                Some(algorithm) => Ok(KeySource::Set(algorithm, path)),
                None => unfit("jwks", with_public_key),
            },
            (None, None, None) if public.is_none() => {
                Err(InvalidSettings::new("jwt.secret", "missing; HS256 needs it"))
            }
            (None, None, None) => {
                let reason = format!("missing; {:?} needs it or siaga.auth.jwt.jwks", self.algorithm);
                Err(InvalidSettings::new("jwt.public_key", reason))
            }
            (_, key, set) => {
                let second = if key.is_some() && !(set.is_some() && self.secret.is_none()) {
                    "jwt.public_key"
                } else {
                    "jwt.jwks"
                };
                Err(InvalidSettings::new(second, "only one of secret, public_key and jwks may be given"))
            }
        }
    }

    /// Makes a token that is accepted from now until `lifetime` has passed.
    ///
    /// # Errors
    ///
    /// [`TokenError::NoSecret`] when the configuration has public keys only; another [`TokenError`] when it cannot be
    /// signed.
    pub fn issue(
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
            scope: names.join(" "),
            exp: seconds(now.after(lifetime)).floor(),
            nbf: None,
            iss: self.issuer.clone(),
            aud: self.audience.clone().map(Audience::One),
        };
        let key = EncodingKey::from_secret(secret.expose().as_bytes());
        Ok(jsonwebtoken::encode(&Header::new(self.algorithm.into()), &claims, &key)?)
    }
}

/// Seconds since 1970.
pub(super) fn seconds(moment: Timestamp) -> f64 {
    moment.to_utc().timestamp_millis() as f64 / 1000.0
}
