use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is masked in logs and in the printed configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) const MASK: &'static str = "********";

    #[must_use]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::MASK)
    }
}

impl<'de> Deserialize<'de> for Secret {
    /// Accepts text, or a whole number as its digits, because quotes may be missing in a configuration file.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretVisitor;

        impl Visitor<'_> for SecretVisitor {
            type Value = Secret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Secret, E> {
                // An unset environment variable results in an empty secret, which anyone could use.
                if text.is_empty() {
                    return Err(E::custom("must not be empty"));
                }
                Ok(Secret(text.to_owned()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Secret, E> {
                Ok(Secret(number.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Secret, E> {
                Ok(Secret(number.to_string()))
            }
        }

        deserializer.deserialize_any(SecretVisitor)
    }
}
