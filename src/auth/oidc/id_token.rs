use jsonwebtoken::Validation;
use serde_json::{Map, Value};

use crate::auth::algorithm::Algorithm;
use crate::auth::crypto;
use crate::auth::jwt::seconds;
use crate::auth::key_set::Keys;
use crate::model::Timestamp;

/// The allowed difference of the clocks, in seconds.
const LEEWAY: f64 = 60.0;
/// The maximum age of a token in seconds. Entra ID dates its tokens five minutes back.
const MAX_AGE: f64 = 8.0 * 60.0;

pub(super) type Claims = Map<String, Value>;

pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    pub(super) now: Timestamp,
}

/// Verifies an ID token (OpenID Connect Core 1.0 §3.1.3.7), and returns its claims. Only a key of the set for the algorithm of the
/// header is used, and only algorithms with public keys are allowed. The error is for the log, and contains nothing of the token.
pub(super) fn verify(token: &str, keys: &[u8], expected: &Expected<'_>) -> Result<Claims, &'static str> {
    crypto::install();
    let header = jsonwebtoken::decode_header(token).map_err(|_| "malformed ID token")?;
    if header.crit.is_some() {
        return Err("ID token with a critical extension");
    }
    let allowed = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA].into_iter();
    let mut allowed = allowed.filter(|algorithm| jsonwebtoken::Algorithm::from(*algorithm) == header.alg);
    let algorithm = allowed.next().and_then(Algorithm::public).ok_or("ID token with another algorithm")?;
    let keys = Keys::parse(keys, algorithm).map_err(|_| "malformed key set of the issuer")?;
    let key = keys.choose(header.kid.as_deref()).ok_or("ID token with an unknown key")?;
    let mut validation = Validation::new(header.alg);
    // All claims are checked below, the times by the clock of the service.
    validation.required_spec_claims.clear();
    (validation.validate_exp, validation.validate_aud) = (false, false);
    let decoded = jsonwebtoken::decode::<Claims>(token, &key, &validation);
    let claims = decoded.map_err(|_| "ID token with a wrong signature or malformed claims")?.claims;
    check(&claims, expected)?;
    Ok(claims)
}

fn check(claims: &Claims, expected: &Expected<'_>) -> Result<(), &'static str> {
    let text = |name| claims.get(name).and_then(Value::as_str);
    let time = |name| claims.get(name).and_then(Value::as_f64);
    let is_client = |value: &Value| value.as_str() == Some(expected.client_id);
    // With several audiences, `azp` names the one that requested the token.
    let (is_for_client, needs_azp) = match claims.get("aud") {
        Some(Value::Array(audiences)) => (audiences.iter().any(is_client), audiences.len() > 1),
        Some(audience) => (is_client(audience), false),
        None => (false, false),
    };
    let is_authorized = claims.get("azp").map_or(!needs_azp, is_client);
    let now = seconds(expected.now);
    for (is_valid, reason) in [
        (text("iss") == Some(expected.issuer), "ID token of another issuer"),
        (is_for_client, "ID token for another audience"),
        (is_authorized, "ID token for another authorized party"),
        (text("nonce") == Some(expected.nonce), "ID token of another login"),
        (time("exp").is_some_and(|exp| exp + LEEWAY > now), "expired ID token, or the clocks differ"),
        (time("iat").is_some_and(|iat| iat <= now + LEEWAY), "early ID token, or the clocks differ"),
        (time("iat").is_some_and(|iat| iat >= now - MAX_AGE), "old ID token, or the clocks differ"),
        (
            claims.get("nbf").is_none_or(|_| time("nbf").is_some_and(|nbf| nbf <= now + LEEWAY)),
            "early ID token",
        ),
    ] {
        if !is_valid {
            return Err(reason);
        }
    }
    Ok(())
}
