use std::fmt;

/// An error in the section `auth` of the configuration, in one line: the full key and its allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSettings(String);

impl InvalidSettings {
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
