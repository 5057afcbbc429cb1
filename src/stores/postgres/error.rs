use std::error::Error;
use std::time::Duration;

use crate::stores::StoreError;

/// When a client should try again: the pool and the listener are back a second after the database is.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The database cannot be used for now.
pub(super) fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Unavailable { retry_after: RETRY_AFTER, source: source.into() }
}

/// The database, or what it holds, is not as it must be.
pub(super) fn backend(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { source: source.into() }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_outage(&error) { unavailable(error) } else { backend(error) }
    }
}

/// Whether trying again later can help.
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

/// Whether others were in the way: a lock that was not to be had in time, a deadlock, a conflict.
pub(super) fn is_contention(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let Some(sqlx::Error::Database(error)) = error.downcast_ref() else { return false };
    error.code().is_some_and(|code| ["55P03", "40P01", "40001"].contains(&&*code))
}

/// The codes of `PostgreSQL`'s appendix A for what passes by itself.
fn is_outage_code(code: &str) -> bool {
    // Connection exceptions, transaction rollbacks (deadlock, conflict), insufficient resources, and operator
    // intervention (shutdown, crash, statement time-out).
    let classes = ["08", "40", "53", "57"];
    // Read-only transaction (a server that has become a standby), and a lock that was not to be had in time.
    let codes = ["25006", "55P03"];
    classes.iter().any(|class| code.starts_with(class)) || codes.contains(&code)
}
