use super::KeyDigest;

/// Why a credential is not accepted, and which one it was. Only for the operator's log, not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CredentialError {
    /// The reason.
    pub(crate) reason: CredentialErrorKind,
    /// The name of the key or the `sub` of the token, if that is proven; otherwise the beginning of the SHA-256 of the text
    /// sent.
    pub(crate) credential: String,
}

/// Why a credential is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CredentialErrorKind {
    /// No key has the digest, and the text does not look like a token.
    #[error("unknown key")]
    UnknownKey,
    /// The store has the key, but it is revoked.
    #[error("revoked key")]
    RevokedKey,
    /// The key has expired.
    #[error("expired key")]
    ExpiredKey,
    /// The key is in the store, but the configuration has another key with the same name.
    #[error("key in the store with the name of a key in siaga.auth.api_keys")]
    ReplacedKey,
    /// The configuration accepts no tokens.
    #[error("token, but siaga.auth.jwt is not configured")]
    NoTokens,
    /// It is not a token, or its claims are invalid.
    #[error("malformed token")]
    MalformedToken,
    /// It has a critical extension, and this service supports none.
    #[error("token with a critical extension")]
    CriticalExtension,
    /// Its `kid` is not in the set of public keys, or it has none and the set has several keys.
    #[error("token whose kid is not in siaga.auth.jwt.jwks_url")]
    UnknownTokenKey,
    /// Its algorithm is not the configured one.
    #[error("token with another algorithm")]
    WrongAlgorithm,
    /// The signature does not match the key.
    #[error("token with a wrong signature")]
    WrongSignature,
    /// The issuer is not the configured one.
    #[error("token of another issuer")]
    WrongIssuer,
    /// The audience is not the configured one.
    #[error("token for another audience")]
    WrongAudience,
    /// The token has expired.
    #[error("expired token")]
    ExpiredToken,
    /// The token is not valid yet.
    #[error("token that is not valid yet")]
    EarlyToken,
}

impl CredentialError {
    /// Makes the refusal of a credential whose holder is not proven.
    pub(super) fn stranger(reason: CredentialErrorKind, sent: &str) -> Self {
        /// Enough to recognize the same credential again, but too little to find out what it is.
        const SHOWN: usize = 8;
        let mut digest = KeyDigest::new(sent).to_hex();
        digest.truncate(SHOWN);
        Self { reason, credential: format!("sha256 {digest}…") }
    }

    /// Makes the refusal of a credential whose holder is proven.
    pub(super) fn known(reason: CredentialErrorKind, name: &str) -> Self {
        Self { reason, credential: name.to_owned() }
    }
}
