//! Connects `jsonwebtoken` to `ring`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};

/// Uses `ring`, like the service's TLS. The providers of `jsonwebtoken` itself depend on a crate with an open security advisory,
/// or on a second cryptography library in C.
static RING: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::signer(*algorithm, key)?)),
    verifier_factory: |algorithm, key| match algorithm {
        Algorithm::HS256 => Ok(Box::new(Hs256::verifier(*algorithm, key)?)),
        _ => Ok(Box::new(PublicKey::verifier(*algorithm, key)?)),
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs `ring` for the whole process. Later calls have no effect.
pub(super) fn install() {
    let _ = RING.install_default();
}

/// Checks the family of a key: the bytes of a public key must never be used as a secret.
fn check_family(key: &DecodingKey, family: AlgorithmFamily) -> Result<&DecodingKey> {
    if key.family() == family { Ok(key) } else { Err(ErrorKind::InvalidAlgorithm.into()) }
}

struct Hs256(hmac::Key);

impl Hs256 {
    fn new(algorithm: Algorithm, secret: &[u8]) -> Result<Self> {
        match algorithm {
            Algorithm::HS256 => Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret))),
            _ => Err(ErrorKind::InvalidAlgorithm.into()),
        }
    }

    fn signer(algorithm: Algorithm, key: &EncodingKey) -> Result<Self> {
        Self::new(algorithm, key.as_bytes())
    }

    fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Self> {
        Self::new(algorithm, check_family(key, AlgorithmFamily::Hmac)?.try_get_as_bytes()?)
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        hmac::verify(&self.0, message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

struct PublicKey {
    algorithm: Algorithm,
    kind: DecodingKeyKind,
}

impl PublicKey {
    fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Self> {
        let family = match algorithm {
            Algorithm::RS256 => AlgorithmFamily::Rsa,
            Algorithm::ES256 => AlgorithmFamily::Ec,
            Algorithm::EdDSA => AlgorithmFamily::Ed,
            _ => return Err(ErrorKind::InvalidAlgorithm.into()),
        };
        Ok(Self { algorithm, kind: check_family(key, family)?.kind().clone() })
    }
}

impl Verifier<Vec<u8>> for PublicKey {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let raw = |algorithm: &'static dyn VerificationAlgorithm, bytes: &[u8]| {
            UnparsedPublicKey::new(algorithm, bytes).verify(message, signature)
        };
        let verified = match (self.algorithm, &self.kind) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) => raw(&ECDSA_P256_SHA256_FIXED, point),
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(bytes)) => raw(&ED25519, bytes),
            _ => return Err(Error::new()),
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for PublicKey {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
