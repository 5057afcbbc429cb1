use super::KeyDigest;

/// Why a credential is not accepted. For the operator's log, never for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CredentialError {
    pub(crate) reason: CredentialErrorKind,
    /// The name of the key or the `sub` of the token, if verified; otherwise the beginning of the SHA-256 of the sent text.
    pub(crate) credential: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CredentialErrorKind {
    /// No key has the digest, and the text does not look like a token.
    #[error("unknown key")]
    UnknownKey,
    #[error("revoked key")]
    RevokedKey,
    #[error("expired key")]
    ExpiredKey,
    /// A key or token whose subject could be taken for a person.
    #[error("key or token whose subject begins with oidc:")]
    ReservedSubject,
    /// The configuration has another key with the same name.
    #[error("key in the store with the name of a key in siaga.auth.api_keys")]
    ReplacedKey,
    #[error("token, but siaga.auth.jwt is not configured")]
    NoTokens,
    /// Not a token, or invalid claims.
    #[error("malformed token")]
    MalformedToken,
    /// The service supports no critical extension (RFC 7515 §4.1.11).
    #[error("token with a critical extension")]
    CriticalExtension,
    /// The `kid` is not in the key set, or it is missing and the set has several keys.
    #[error("token whose kid is not in siaga.auth.jwt.jwks_url")]
    UnknownTokenKey,
    #[error("token with another algorithm")]
    WrongAlgorithm,
    #[error("token with a wrong signature")]
    WrongSignature,
    #[error("token of another issuer")]
    WrongIssuer,
    #[error("token for another audience")]
    WrongAudience,
    #[error("expired token")]
    ExpiredToken,
    #[error("token that is not valid yet")]
    EarlyToken,
}

impl CredentialError {
    /// Names an unverified credential by the start of its digest, so that logs do not contain the credential.
    pub(super) fn unproven(reason: CredentialErrorKind, sent: &str) -> Self {
        /// The number of digits: enough to recognise the credential, but too few to guess it.
        const SHOWN: usize = 8;
        let mut digest = KeyDigest::new(sent).to_hex();
        digest.truncate(SHOWN);
        Self { reason, credential: format!("sha256 {digest}…") }
    }

    pub(super) fn proven(reason: CredentialErrorKind, name: &str) -> Self {
        Self { reason, credential: name.to_owned() }
    }
}
