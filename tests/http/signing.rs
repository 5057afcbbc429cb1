//! Valid and invalid tokens. The keys of `keys/` are used nowhere else.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::fixture;

pub(crate) const RSA_PEM: &str = include_str!("keys/rsa.pem");
pub(crate) const P256_PEM: &str = include_str!("keys/p256.pem");
pub(crate) const ED25519_PEM: &str = include_str!("keys/ed25519.pem");

/// The algorithms with public keys, and a key of each.
pub(crate) const PUBLIC: [(&str, &str); 3] =
    [("RS256", RSA_PEM), ("ES256", P256_PEM), ("EdDSA", ED25519_PEM)];

/// Seconds since 1970 in the fixture.
pub(crate) fn now() -> i64 {
    fixture::now().to_utc().timestamp()
}

/// Good claims with some changed; null removes one.
pub(crate) fn claims(change: Value) -> Value {
    let mut claims = json!({ "sub": "ops", "scope": "cards:read floods:write", "exp": now() + 60 });
    claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

/// Base64 with the alphabet for addresses, without padding (RFC 7515 §2).
pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The signing input of a token (RFC 7515 §5.1).
fn message(header: &Value, claims: &Value) -> String {
    format!("{}.{}", base64(header.to_string()), base64(claims.to_string()))
}

/// A token with any header, signed by the key of an algorithm.
pub(crate) fn token(algorithm: &str, header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    format!("{message}.{}", base64(signature(algorithm, message.as_bytes())))
}

/// A token with any header, signed by a secret.
pub(crate) fn token_by_secret(secret: &[u8], header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    format!("{message}.{}", base64(hmac::sign(&key, message.as_bytes())))
}

fn rsa() -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(include_bytes!("keys/rsa.der")).unwrap()
}

fn p256() -> EcdsaKeyPair {
    let pkcs8 = include_bytes!("keys/p256.der");
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new()).unwrap()
}

fn ed25519() -> Ed25519KeyPair {
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(include_bytes!("keys/ed25519.der")).unwrap()
}

fn signature(algorithm: &str, message: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    match algorithm {
        "RS256" => {
            let key = rsa();
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
            signature
        }
        "ES256" => p256().sign(&random, message).unwrap().as_ref().to_vec(),
        "EdDSA" => ed25519().sign(message).as_ref().to_vec(),
        other => panic!("{other}"),
    }
}

/// The public key of an algorithm as a member of a set (RFC 7517 §4).
pub(crate) fn jwk(algorithm: &str, kid: &str) -> Value {
    match algorithm {
        "RS256" => {
            let public: ring::signature::RsaPublicKeyComponents<Vec<u8>> = rsa().public().into();
            json!({ "kty": "RSA", "kid": kid, "n": base64(public.n), "e": base64(public.e) })
        }
        "ES256" => {
            let key = p256();
            let (x, y) = key.public_key().as_ref()[1..].split_at(32);
            json!({ "kty": "EC", "crv": "P-256", "kid": kid, "x": base64(x), "y": base64(y) })
        }
        "EdDSA" => {
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": base64(ed25519().public_key()) })
        }
        other => panic!("{other}"),
    }
}
