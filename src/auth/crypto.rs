//! The cryptography of tokens, by `ring`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use ring::hmac;

/// Lets `jsonwebtoken` use `ring`, which the service's TLS uses too; of the providers it brings along one depends on
/// a crate with an open advisory and the other on a second cryptography library in C.
static RING: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::signer(*algorithm, key)?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::verifier(*algorithm, key)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `ring` the process's provider. Calls after the first change nothing.
pub(super) fn install() {
    // An error means that a provider is installed already.
    let _ = RING.install_default();
}

/// HMAC with SHA-256 (RFC 7518 §3.2).
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
        Self::new(algorithm, key.try_get_as_bytes()?)
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
