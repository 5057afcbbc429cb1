use std::path::Path;

use minijinja::{Error, ErrorKind};

/// Why a template cannot be a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("siaga.formats.template.{key}: {reason}")]
pub struct InvalidTemplate {
    /// The wrong key, beginning with the format's name.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub reason: String,
}

/// A template error in one line: file, line and reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failure(String);

impl Failure {
    pub(super) fn from_engine(file: &Path, error: &Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::OutOfFuel => "it takes more steps than max_time allows".to_owned(),
            kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
        };
        Self::at(file, error, &reason.replace(['\r', '\n'], " "))
    }

    pub(super) fn at(file: &Path, error: &Error, reason: &str) -> Self {
        let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
        Self::new(file, &format!("{line}: {reason}"))
    }

    pub(super) fn new(file: &Path, reason: &str) -> Self {
        Self(format!("{}{reason}", file.display()))
    }
}
