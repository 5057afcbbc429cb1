use serde::{Deserialize, Serialize};

/// A signature algorithm of RFC 7518 §3.1 or RFC 8037 §3.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Algorithm {
    /// HMAC with SHA-256 and a shared secret.
    #[default]
    HS256,
    /// RSASSA-PKCS1-v1_5 with SHA-256, with an RSA key of 2048 to 8192 bits.
    RS256,
    /// ECDSA on the curve P-256 with SHA-256.
    ES256,
    EdDSA,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PublicAlgorithm {
    RS256,
    ES256,
    EdDSA,
}

impl Algorithm {
    /// Returns the algorithm if it has public keys; `None` if it has a shared secret.
    pub(super) fn public(self) -> Option<PublicAlgorithm> {
        match self {
            Self::HS256 => None,
            Self::RS256 => Some(PublicAlgorithm::RS256),
            Self::ES256 => Some(PublicAlgorithm::ES256),
            Self::EdDSA => Some(PublicAlgorithm::EdDSA),
        }
    }
}

impl From<Algorithm> for jsonwebtoken::Algorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::HS256 => Self::HS256,
            Algorithm::RS256 => Self::RS256,
            Algorithm::ES256 => Self::ES256,
            Algorithm::EdDSA => Self::EdDSA,
        }
    }
}
