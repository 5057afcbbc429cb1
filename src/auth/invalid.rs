use std::fmt;

/// Why the section `auth` of the configuration is invalid, in one line: the key's full path and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSettings(String);

impl InvalidSettings {
    /// Makes an error about a key of `siaga.auth`.
    pub(super) fn new(key: &str, reason: impl fmt::Display) -> Self {
        Self(format!("siaga.auth.{key}: {reason}"))
    }
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidSettings {}
