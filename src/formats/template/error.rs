use std::path::Path;

use minijinja::{Error, ErrorKind};

/// Why a template cannot be a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("siaga.formats.template.{key}: {reason}")]
pub struct InvalidTemplate {
    /// The key at fault, from the format's name on.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub reason: String,
}

/// A template failed: its file, the line and the reason, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failure(String);

impl Failure {
    /// What the engine says of the template in a file.
    pub(super) fn of(file: &Path, error: &Error) -> Self {
        let what = match error.kind() {
            ErrorKind::OutOfFuel => "it takes more steps than max_time allows".to_owned(),
            kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
        };
        Self::at(file, error, &what.replace(['\r', '\n'], " "))
    }

    /// What is wrong where the engine ended with an error.
    pub(super) fn at(file: &Path, error: &Error, what: &str) -> Self {
        let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
        Self::new(file, &format!("{line}: {what}"))
    }

    /// What else is wrong with it.
    pub(super) fn new(file: &Path, what: &str) -> Self {
        Self(format!("{}{what}", file.display()))
    }
}
