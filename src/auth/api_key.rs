use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

use chrono::{DateTime, Utc};
use ring::digest::{SHA256, digest};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use subtle::ConstantTimeEq;

use super::{
    Credential, CredentialError, CredentialErrorKind, CredentialKind, Grant, OwnQuota, PERSON_PREFIX, Scope,
    Secret,
};
use crate::auth::random::{self, RandomUnavailable};
use crate::model::{AreaRule, Timestamp};

/// An accepted API key. The key itself is not stored, only its hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// The holder of the key, under whose name changes are logged.
    pub name: String,
    /// SHA-256 of the key, in hexadecimal.
    pub sha256: KeyDigest,
    /// The scopes that the key grants.
    pub scopes: Vec<Scope>,
    /// The areas in which the key sets states and moderates reports. **Default: all areas**
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "area_rule")]
    pub areas: Option<AreaRule>,
    /// When the key expires (RFC 3339). **Default: never**
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_time")]
    pub expires: Option<DateTime<Utc>>,
    /// Requests per second. **Default: as for other keys**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<NonZeroU32>,
    /// Requests per day. **Default: as for other keys**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<NonZeroU32>,
}

fn optional_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let invalid = |_| D::Error::custom("must be a moment such as 2027-01-31T00:00:00Z");
    text.parse().map(Some).map_err(invalid)
}

/// Reads a rule that is present. Only an absent one means all areas, so `null` is an error.
pub(super) fn area_rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AreaRule>, D::Error> {
    AreaRule::deserialize(deserializer).map(Some)
}

impl ApiKey {
    /// Returns the key's own quota, if it has one.
    #[must_use]
    pub fn quota(&self) -> Option<OwnQuota> {
        let quota = OwnQuota { per_second: self.per_second, per_day: self.per_day };
        (self.per_second.is_some() || self.per_day.is_some()).then_some(quota)
    }

    pub(crate) fn holder(&self) -> String {
        format!("the key {:?}", self.name)
    }

    pub(crate) fn grant(&self) -> Grant {
        Grant { scopes: self.scopes.clone(), areas: self.areas.clone() }
    }

    /// Returns the credential of the holder, unless the key has expired.
    pub(super) fn credential(&self, now: Timestamp) -> Result<Credential, CredentialError> {
        if self.expires.is_some_and(|expires| Timestamp::from(expires) <= now) {
            return Err(CredentialError::proven(CredentialErrorKind::ExpiredKey, &self.name));
        }
        if self.name.starts_with(PERSON_PREFIX) {
            return Err(CredentialError::proven(CredentialErrorKind::ReservedSubject, &self.name));
        }
        Ok(Credential {
            kind: CredentialKind::ApiKey,
            subject: self.name.clone(),
            quota: self.quota(),
            grants: vec![self.grant()],
        })
    }
}

/// Finds the key with a digest. Always compares all keys, so that the time does not reveal whether or where one matches.
pub(super) fn find_key<'k>(
    keys: impl IntoIterator<Item = &'k ApiKey>,
    digest: &KeyDigest,
) -> Option<&'k ApiKey> {
    keys.into_iter().fold(None, |found, key| if key.sha256 == *digest { Some(key) } else { found })
}

/// A new key. Its text is not stored anywhere.
#[derive(Debug)]
pub struct NewKey {
    /// The secret for the holder.
    pub key: Secret,
    /// The entry to store.
    pub entry: ApiKey,
}

impl NewKey {
    /// Generates a key of 256 random bits.
    ///
    /// # Errors
    ///
    /// If the operating system has no random numbers.
    pub fn make(name: &str, scopes: Vec<Scope>) -> Result<Self, RandomUnavailable> {
        let key = random::hex::<32>()?;
        let sha256 = KeyDigest::new(&key);
        let entry = ApiKey {
            name: name.to_owned(),
            sha256,
            scopes,
            areas: None,
            expires: None,
            per_second: None,
            per_day: None,
        };
        Ok(Self { key: key.into(), entry })
    }
}

/// The SHA-256 of an API key. Compared in constant time, and masked in output.
#[derive(Clone, Copy, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyDigest([u8; 32]);

/// Why a text is not a [`KeyDigest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDigest {
    /// The text is not a digest.
    #[error("must be the SHA-256 of the key as 64 hexadecimal digits")]
    Malformed,
    /// The digest of the empty text, which is not a key.
    #[error("must be the SHA-256 of the key; this is the SHA-256 of an empty text: make the key again")]
    Empty,
}

impl KeyDigest {
    /// Hashes a key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
        Self(bytes)
    }

    /// Returns the digest as in the configuration.
    #[must_use]
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }

    /// Returns the bytes for stores.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for KeyDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<String> for KeyDigest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidDigest::Malformed)?;
        let read = Self(bytes);
        if read == Self::new("") { Err(InvalidDigest::Empty) } else { Ok(read) }
    }
}

impl PartialEq for KeyDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Hash for KeyDigest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> ApiKey {
        let NewKey { mut entry, .. } = NewKey::make(text, Vec::new()).unwrap();
        entry.sha256 = KeyDigest::new(text);
        entry
    }

    #[test]
    fn every_key_is_compared_wherever_the_match_is() {
        let keys = ["first", "middle", "last"].map(key);
        for sent in ["first", "middle", "last", "none"] {
            let mut compared = 0;
            let looked_at = keys.iter().inspect(|_| compared += 1);
            let found = find_key(looked_at, &KeyDigest::new(sent)).map(|key| key.name.as_str());
            assert_eq!(found, Some(sent).filter(|sent| *sent != "none"));
            assert_eq!(compared, keys.len(), "{sent}");
        }
    }

    #[test]
    fn keys_have_256_bits_and_differ() {
        let generate = || NewKey::make("a", Vec::new()).unwrap();
        let (one, other) = (generate(), generate());
        assert_eq!(one.key.expose().len(), 64);
        assert_ne!(one.key.expose(), other.key.expose());
        assert!(one.entry.sha256 == KeyDigest::new(one.key.expose()));
    }
}
