use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};
use tokio::sync::OwnedSemaphorePermit;

use super::error::is_contention;
use super::pool::Place;
use crate::stores::StoreError;

/// A connection in use.
///
/// It goes back to its pool by [`end`](Self::end) alone. A connection whose call was not finished, because it took too
/// long or the client went, is closed instead: it may stand in the middle of a response, or behind a link that is
/// stalled. Its place in the pool is free again when the database has noticed that, and has ended the statement.
pub(super) struct Link {
    connection: Option<PoolConnection<Postgres>>,
    place: Option<Place>,
    /// Of a call that writes: its turn among those.
    turn: Option<OwnedSemaphorePermit>,
    is_replica: bool,
}

impl Link {
    pub(super) fn to_primary(
        (connection, place): (PoolConnection<Postgres>, Place),
        turn: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { connection: Some(connection), place: Some(place), turn, is_replica: false }
    }

    pub(super) fn to_replica((connection, place): (PoolConnection<Postgres>, Place)) -> Self {
        Self { connection: Some(connection), place: Some(place), turn: None, is_replica: true }
    }

    /// Whether what it shows may be behind.
    pub(super) fn is_replica(&self) -> bool {
        self.is_replica
    }

    /// Ends the use with the outcome of its calls: what the database refused leaves a connection as it was.
    pub(super) fn end<T, E: Into<StoreError>>(mut self, outcome: Result<T, E>) -> Result<T, StoreError> {
        let outcome = outcome.map_err(E::into);
        let connection = self.connection.take();
        if let Err(error @ StoreError::Unavailable { .. }) = &outcome
            && !is_contention(error)
        {
            drop(connection.map(PoolConnection::detach));
        }
        outcome
    }

    /// Ends the use of a connection on which all went well.
    pub(super) fn give_back(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(connection.detach());
            if let Some(place) = self.place.take() {
                place.leave_when_noticed(self.turn.take());
            }
        }
    }
}

impl Deref for Link {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "taken by what consumes the link only")]
    fn deref(&self) -> &PgConnection {
        self.connection.as_ref().expect("a link in use")
    }
}

impl DerefMut for Link {
    #[expect(clippy::expect_used, reason = "taken by what consumes the link only")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.connection.as_mut().expect("a link in use")
    }
}
