use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};

use crate::stores::StoreError;

/// A connection in use.
///
/// It goes back to its pool by [`end`](Self::end) alone. One whose call was not finished, because it took too long, or
/// the client went, is closed instead: it may stand in the middle of an answer, or behind a link that is stalled.
pub(super) struct Link(Option<PoolConnection<Postgres>>);

impl Link {
    pub(super) fn new(connection: PoolConnection<Postgres>) -> Self {
        Self(Some(connection))
    }

    /// Ends the use with the outcome of its calls: what the database refused leaves a connection as it was.
    pub(super) fn end<T, E: Into<StoreError>>(mut self, outcome: Result<T, E>) -> Result<T, StoreError> {
        let outcome = outcome.map_err(E::into);
        if !matches!(outcome, Err(StoreError::Unavailable { .. })) {
            drop(self.0.take());
        }
        outcome
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(connection.detach());
        }
    }
}

impl Deref for Link {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "taken by what consumes the link only")]
    fn deref(&self) -> &PgConnection {
        self.0.as_ref().expect("a link in use")
    }
}

impl DerefMut for Link {
    #[expect(clippy::expect_used, reason = "taken by what consumes the link only")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("a link in use")
    }
}
