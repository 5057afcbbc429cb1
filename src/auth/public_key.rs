use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{DecodingKey, DecodingKeyKind};
use spki::der::Decode;
use spki::{DecodePublicKey, Document, ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::algorithm::PublicAlgorithm;

// Identifiers of RFC 3279 §2.3.1, RFC 5480 §2.1.1 and RFC 8410 §3.
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ELLIPTIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// The allowed lengths of an RSA modulus in bits. Shorter moduli are insecure, longer moduli too slow.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// The size of an uncompressed P-256 point and of an Ed25519 public key, in bytes.
const P256_POINT: usize = 65;
const ED25519_KEY: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidPublicKey {
    #[error("must be one public key in PEM, -----BEGIN PUBLIC KEY-----")]
    Unreadable,
    #[error("must be an RSA key of 2048 to 8192 bits")]
    NotRsa,
    #[error("must be a key on the curve P-256")]
    NotP256,
    #[error("must be a key of Ed25519")]
    NotEd25519,
    #[error("is meant for something else")]
    OtherPurpose,
}

/// Parses a `SubjectPublicKeyInfo` in PEM (RFC 7468 §13).
pub(super) fn from_pem(text: &str, algorithm: PublicAlgorithm) -> Result<DecodingKey, InvalidPublicKey> {
    let document = Document::from_public_key_pem(text.trim()).map_err(|_| InvalidPublicKey::Unreadable)?;
    let info =
        SubjectPublicKeyInfoRef::from_der(document.as_bytes()).map_err(|_| InvalidPublicKey::Unreadable)?;
    let bytes = info.subject_public_key.as_bytes().ok_or(InvalidPublicKey::Unreadable)?;
    match algorithm {
        PublicAlgorithm::RS256 => {
            let key = pkcs1::RsaPublicKeyRef::from_der(bytes).ok().filter(|_| info.algorithm.oid == RSA);
            let key = key.ok_or(InvalidPublicKey::NotRsa)?;
            rsa(key.modulus.as_bytes(), key.public_exponent.as_bytes())
        }
        PublicAlgorithm::ES256 => {
            info.algorithm.assert_oids(ELLIPTIC, P256).map_err(|_| InvalidPublicKey::NotP256)?;
            p256(bytes)
        }
        PublicAlgorithm::EdDSA => {
            info.algorithm.assert_algorithm_oid(ED25519).map_err(|_| InvalidPublicKey::NotEd25519)?;
            ed25519(bytes)
        }
    }
}

/// Reads a key of a key set (RFC 7517 §4), unless it is for another algorithm or use.
pub(super) fn from_jwk(jwk: &Jwk, algorithm: PublicAlgorithm) -> Result<DecodingKey, InvalidPublicKey> {
    let common = &jwk.common;
    let other_use = common.public_key_use.as_ref().is_some_and(|value| *value != PublicKeyUse::Signature);
    let other_operation =
        common.key_operations.as_ref().is_some_and(|operations| !operations.contains(&KeyOperations::Verify));
    let expected = match algorithm {
        PublicAlgorithm::RS256 => KeyAlgorithm::RS256,
        PublicAlgorithm::ES256 => KeyAlgorithm::ES256,
        PublicAlgorithm::EdDSA => KeyAlgorithm::EdDSA,
    };
    if other_use || other_operation || common.key_algorithm.is_some_and(|value| value != expected) {
        return Err(InvalidPublicKey::OtherPurpose);
    }
    let key = DecodingKey::from_jwk(jwk).map_err(|_| InvalidPublicKey::Unreadable)?;
    match (algorithm, &jwk.algorithm, key.kind()) {
        (
            PublicAlgorithm::RS256,
            AlgorithmParameters::RSA(_),
            DecodingKeyKind::RsaModulusExponent { n, e },
        ) => rsa(n, e),
        (
            PublicAlgorithm::ES256,
            AlgorithmParameters::EllipticCurve(parameters),
            DecodingKeyKind::SecretOrDer(point),
        ) if parameters.curve == EllipticCurve::P256 => p256(point),
        (
            PublicAlgorithm::EdDSA,
            AlgorithmParameters::OctetKeyPair(parameters),
            DecodingKeyKind::SecretOrDer(bytes),
        ) if parameters.curve == EllipticCurve::Ed25519 => ed25519(bytes),
        _ => Err(InvalidPublicKey::OtherPurpose),
    }
}

/// Creates an RSA key. Ignores leading zeros of both numbers. The modulus must have a number of bits in `RSA_BITS`.
fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<DecodingKey, InvalidPublicKey> {
    let (modulus, exponent) = (without_zeros(modulus), without_zeros(exponent));
    let leading_zeros = modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    if !RSA_BITS.contains(&(modulus.len() * 8 - leading_zeros)) || exponent.is_empty() {
        return Err(InvalidPublicKey::NotRsa);
    }
    Ok(DecodingKey::from_rsa_raw_components(modulus, exponent))
}

fn p256(point: &[u8]) -> Result<DecodingKey, InvalidPublicKey> {
    // An uncompressed point begins with 4 (SEC 1 §2.3.3).
    let is_valid = point.len() == P256_POINT && point.first() == Some(&4);
    is_valid.then(|| DecodingKey::from_ec_der(point)).ok_or(InvalidPublicKey::NotP256)
}

fn ed25519(bytes: &[u8]) -> Result<DecodingKey, InvalidPublicKey> {
    let is_valid = bytes.len() == ED25519_KEY;
    is_valid.then(|| DecodingKey::from_ed_der(bytes)).ok_or(InvalidPublicKey::NotEd25519)
}

fn without_zeros(mut number: &[u8]) -> &[u8] {
    while let [0, rest @ ..] = number {
        number = rest;
    }
    number
}
