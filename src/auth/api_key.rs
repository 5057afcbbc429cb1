use std::fmt;

use chrono::{DateTime, Utc};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize, Serializer};
use subtle::ConstantTimeEq;

use super::{Credential, Scope, Secret};
use crate::model::Timestamp;
use crate::random::{self, RandomUnavailable};

/// An accepted API key. The key itself is not kept, only its hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// Who holds the key; changes made with it are logged under this name.
    pub name: String,
    /// SHA-256 of the key, in hexadecimal.
    pub sha256: KeyDigest,
    /// What the key allows.
    pub scopes: Vec<Scope>,
    /// When the key ceases to be accepted (RFC 3339). **Default: never**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// What the holder of the key may do; `None` once it has expired.
    pub(super) fn credential(&self, now: Timestamp) -> Option<Credential> {
        let expired = self.expires.is_some_and(|expires| Timestamp::from(expires) <= now);
        let credential = || Credential { subject: self.name.clone(), scopes: self.scopes.clone() };
        (!expired).then(credential)
    }
}

/// A key just made: the only time its text is known.
#[derive(Debug)]
pub struct NewKey {
    /// What its holder sends.
    pub key: Secret,
    /// What the service keeps.
    pub entry: ApiKey,
}

impl NewKey {
    /// Makes a key of 256 random bits.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn make(name: &str, scopes: Vec<Scope>) -> Result<Self, RandomUnavailable> {
        let key = random::hex::<32>()?;
        let sha256 = KeyDigest::of(&key);
        let entry = ApiKey { name: name.to_owned(), sha256, scopes, expires: None };
        Ok(Self { key: key.into(), entry })
    }
}

/// The SHA-256 of an API key. Compared in constant time; not shown.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyDigest([u8; 32]);

/// A text that is no [`KeyDigest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the SHA-256 of the key as 64 hexadecimal digits")]
pub struct InvalidDigest;

impl KeyDigest {
    /// The digest of a key.
    #[must_use]
    pub fn of(key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
        Self(bytes)
    }

    /// The digest as the configuration takes it.
    #[must_use]
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }
}

impl TryFrom<String> for KeyDigest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidDigest)?;
        Ok(Self(bytes))
    }
}

impl PartialEq for KeyDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Secret::MASK)
    }
}

impl Serialize for KeyDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Secret::MASK)
    }
}
