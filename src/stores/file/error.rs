use std::error::Error;

use tokio::task::JoinError;

#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("{}", describe(.0))]
    Database(#[from] sqlx::Error),
    #[error("the table {table} has a wrong row: {reason}")]
    Row { table: &'static str, reason: String },
    /// The file or its log is no longer at the path where it was opened.
    #[error("{0}")]
    Lost(&'static str),
}

impl FileError {
    pub(super) fn row<E: Error>(table: &'static str) -> impl Fn(E) -> Self + Copy {
        move |error| {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Self::Row { table, reason }
        }
    }

    pub(super) fn panicked(error: JoinError) -> Self {
        Self::Database(sqlx::Error::Io(error.into()))
    }

    /// Returns the reason for health checks. It contains no paths.
    pub(super) fn reason(&self) -> &'static str {
        let cause = match self {
            Self::Database(error) => Cause::classify(error).text(),
            Self::Row { .. } => None,
            Self::Lost(reason) => Some(*reason),
        };
        cause.unwrap_or("the file cannot be written")
    }
}

/// The meaning of `SQLite`'s error codes for this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Full,
    ReadOnly,
    Busy,
    Damaged,
    Closed,
    NoDatabase,
    Other,
}

impl Cause {
    /// Determines the cause from `SQLite`'s primary result code.
    pub(super) fn classify(error: &sqlx::Error) -> Self {
        let Some(error) = error.as_database_error() else { return Self::Other };
        // The low byte is the primary code, https://www.sqlite.org/rescode.html.
        let code: Option<u32> = error.code().and_then(|code| code.parse().ok());
        match code.map(|code| code & 0xff) {
            Some(13) => Self::Full,
            Some(8) => Self::ReadOnly,
            Some(5 | 6) => Self::Busy,
            Some(11) => Self::Damaged,
            Some(14) => Self::Closed,
            Some(26) => Self::NoDatabase,
            _ => Self::Other,
        }
    }

    /// Returns the cause as a text for operators; `None` if only `SQLite`'s own text describes the cause.
    pub(super) fn text(self) -> Option<&'static str> {
        match self {
            Self::Full => Some("the disk is full"),
            Self::ReadOnly => Some("the file is read-only"),
            Self::Busy => Some("another process writes to the file"),
            Self::Damaged => Some("the file is damaged: restore a backup"),
            Self::Closed => {
                Some("it cannot be opened: the file and its folder must be readable and writable")
            }
            Self::NoDatabase => Some("it is not a file of this service"),
            Self::Other => None,
        }
    }
}

fn describe(error: &sqlx::Error) -> String {
    let cause = Cause::classify(error).text();
    match (cause, error) {
        (Some(cause), _) => cause.to_owned(),
        (None, sqlx::Error::Database(error)) => match error.code() {
            Some(code) => format!("SQLite reports: {} (code {code})", error.message()),
            None => format!("SQLite reports: {}", error.message()),
        },
        (None, other) => other.to_string(),
    }
}
