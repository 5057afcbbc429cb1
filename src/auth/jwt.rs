use std::time::Duration;

use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

use super::{Credential, Scope, Secret, crypto};
use crate::duration;
use crate::model::{Timestamp, is_name};

/// How tokens are signed and verified (RFC 7519).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// The algorithm; what a token says of itself does not count. **Default: `HS256`**
    #[serde(default)]
    pub algorithm: Algorithm,
    /// The secret of HS256. RFC 7518 §3.2 asks for 32 bytes or more.
    pub secret: Secret,
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

/// A signature algorithm of RFC 7518 §3.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// HMAC with SHA-256.
    #[default]
    HS256,
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
#[error("the token could not be made")]
pub struct TokenError(#[from] jsonwebtoken::errors::Error);

impl Jwt {
    /// The shortest secret RFC 7518 §3.2 allows, in bytes.
    pub const SHORTEST_SECRET: usize = 32;

    fn default_leeway() -> Duration {
        Duration::from_secs(30)
    }

    /// Makes a token that is accepted from now until `lifetime` has passed.
    ///
    /// # Errors
    ///
    /// [`TokenError`] when it cannot be signed.
    pub fn issue(
        &self,
        subject: &str,
        scopes: &[Scope],
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<String, TokenError> {
        crypto::install();
        let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
        let claims = Claims {
            sub: subject.to_owned(),
            scope: names.join(" "),
            exp: seconds(now.after(lifetime)).floor(),
            nbf: None,
            iss: self.issuer.clone(),
            aud: self.audience.clone().map(Audience::One),
        };
        let key = EncodingKey::from_secret(self.secret.expose().as_bytes());
        Ok(jsonwebtoken::encode(&Header::new(self.algorithm.into()), &claims, &key)?)
    }

    /// What the holder of the token may do; `None` when it is not accepted at `now`.
    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Option<Credential> {
        let key = DecodingKey::from_secret(self.secret.expose().as_bytes());
        // Whoever does not understand what a token calls critical must refuse it (RFC 7515 §4.1.11).
        if jsonwebtoken::decode_header(token).ok()?.crit.is_some() {
            return None;
        }
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &self.validation()).ok()?.claims;
        let leeway = self.leeway.as_secs_f64();
        let now = seconds(now);
        let in_time = now < claims.exp + leeway && claims.nbf.is_none_or(|nbf| nbf <= now + leeway);
        let scopes = claims.scope.split(' ').filter_map(|name| name.parse().ok()).collect();
        (in_time && is_name(&claims.sub)).then_some(Credential { subject: claims.sub, scopes })
    }

    fn validation(&self) -> Validation {
        let mut validation = Validation::new(self.algorithm.into());
        validation.required_spec_claims.clear();
        // Judged by `verify` itself, by the service's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            validation.required_spec_claims.insert("iss".to_owned());
        }
        match &self.audience {
            Some(audience) => {
                validation.set_audience(&[audience]);
                validation.required_spec_claims.insert("aud".to_owned());
            }
            None => validation.validate_aud = false,
        }
        validation
    }
}

impl From<Algorithm> for jsonwebtoken::Algorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::HS256 => Self::HS256,
        }
    }
}

/// Seconds since 1970.
fn seconds(moment: Timestamp) -> f64 {
    moment.to_utc().timestamp_millis() as f64 / 1000.0
}
