use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, Postgres};
use tokio::sync::OwnedSemaphorePermit;

use super::error::is_contention;
use super::pool::Place;
use crate::stores::StoreError;

/// A connection in use.
///
/// Only [`end`](Self::end) returns it to its pool. If a call was not finished, because it took too long or the client went away, its
/// connection is closed instead: it may be in the middle of a response, or behind a stalled link. Its place in the pool becomes free
/// once the database has noticed that and has ended the statement.
pub(super) struct Link {
    connection: Option<PoolConnection<Postgres>>,
    place: Option<Place>,
    /// The turn of a call that writes.
    turn: Option<OwnedSemaphorePermit>,
}

impl Link {
    pub(super) fn new(
        (connection, place): (PoolConnection<Postgres>, Place),
        turn: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { connection: Some(connection), place: Some(place), turn }
    }

    /// Ends the use with the outcome of its calls. After an outage the connection is closed; after any other error it
    /// can still be used, and goes back to its pool.
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
