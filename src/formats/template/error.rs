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

/// A template failed: its file, the line and the reason, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failure(String);

impl Failure {
    /// Returns an error of the engine about the template in a file.
    pub(super) fn from_engine(file: &Path, error: &Error) -> Self {
        let what = match error.kind() {
            ErrorKind::OutOfFuel => "it takes more steps than max_time allows".to_owned(),
            kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
        };
        Self::at(file, error, &what.replace(['\r', '\n'], " "))
    }

    /// Returns another problem, at the line where the engine ended with an error.
    pub(super) fn at(file: &Path, error: &Error, what: &str) -> Self {
        let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
        Self::new(file, &format!("{line}: {what}"))
    }

    /// Returns any other problem with the template.
    pub(super) fn new(file: &Path, what: &str) -> Self {
        Self(format!("{}{what}", file.display()))
    }
}
