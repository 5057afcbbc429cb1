use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};
use tokio::sync::OwnedSemaphorePermit;

use super::error::is_contention;
use super::pool::PoolPermit;
use crate::stores::StoreError;

/// A connection in use. Only [`finish`](Self::finish) returns it to its pool. If an operation is cancelled (time-out, or the
/// client disconnected), the connection is closed instead: it may be in the middle of a response, or no longer respond. Its
/// permit is released later, when the database has noticed the closing and ended the statement.
pub(super) struct Link {
    connection: Option<PoolConnection<Postgres>>,
    permit: Option<PoolPermit>,
    write_permit: Option<OwnedSemaphorePermit>,
}

impl Link {
    pub(super) fn new(
        (connection, permit): (PoolConnection<Postgres>, PoolPermit),
        write_permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { connection: Some(connection), permit: Some(permit), write_permit }
    }

    /// Closes the connection after an outage; after any other outcome it returns to its pool.
    pub(super) fn finish<T, E: Into<StoreError>>(mut self, outcome: Result<T, E>) -> Result<T, StoreError> {
        let outcome = outcome.map_err(E::into);
        let connection = self.connection.take();
        if let Err(error @ StoreError::Unavailable { .. }) = &outcome
            && !is_contention(error)
        {
            drop(connection.map(PoolConnection::detach));
        }
        outcome
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(connection.detach());
            if let Some(permit) = self.permit.take() {
                permit.release_when_noticed(self.write_permit.take());
            }
        }
    }
}

impl Deref for Link {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "only taken when the link is consumed")]
    fn deref(&self) -> &PgConnection {
        self.connection.as_ref().expect("a link in use")
    }
}

impl DerefMut for Link {
    #[expect(clippy::expect_used, reason = "only taken when the link is consumed")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.connection.as_mut().expect("a link in use")
    }
}
