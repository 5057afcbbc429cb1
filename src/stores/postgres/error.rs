use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::stores::StoreError;

/// The value of `Retry-After`. The pool and the listener recover within a second after the database is back.
const RETRY_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct DatabaseError(pub(super) sqlx::Error);

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&described(&self.0))
    }
}

impl Error for DatabaseError {}

/// Returns the text of a database error for an operator.
///
/// The driver's own text ends with a line number of `PostgreSQL`'s source code. The returned text ends with the SQLSTATE code,
/// which the manual of `PostgreSQL` explains.
#[must_use]
pub fn described(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => match error.code() {
            Some(code) => format!("the database responded: {} (SQLSTATE {code})", error.message()),
            None => format!("the database responded: {}", error.message()),
        },
        other => other.to_string(),
    }
}

pub(super) fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Unavailable { retry_after: RETRY_AFTER, source: source.into() }
}

pub(super) fn backend(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { source: source.into() }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_outage(&error) { unavailable(DatabaseError(error)) } else { backend(DatabaseError(error)) }
    }
}

/// Returns whether the connection or the server failed, rather than the statement.
pub(super) fn is_outage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| is_outage_code(&code)),
        _ => false,
    }
}

/// Whether a lock time-out, deadlock or conflict caused the error. If so, nothing was written and the connection stays usable.
pub(super) fn is_contention(error: &StoreError) -> bool {
    let StoreError::Unavailable { source, .. } = error else { return false };
    if let Some(error) = source.downcast_ref::<Arc<StoreError>>() {
        return is_contention(error);
    }
    let Some(DatabaseError(sqlx::Error::Database(error))) = source.downcast_ref() else { return false };
    error.code().is_some_and(|code| ["55P03", "40P01", "40001"].contains(&&*code))
}

/// Whether a SQLSTATE (`PostgreSQL` manual, appendix A) stands for a temporary problem.
fn is_outage_code(code: &str) -> bool {
    // Connection exceptions, transaction rollbacks, insufficient resources, operator intervention (shutdown, statement time-out).
    let classes = ["08", "40", "53", "57"];
    // Read-only transaction (a server that has become a standby), and a lock that was not free in time.
    let codes = ["25006", "55P03"];
    classes.iter().any(|class| code.starts_with(class)) || codes.contains(&code)
}
