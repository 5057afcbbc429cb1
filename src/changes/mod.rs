//! Sends clients what has changed since they last read: as deltas, which clients poll or receive as a stream.
//!
//! The unit of change is the store's revision, which is read together with the data and grows in commit order. For each area, a
//! server remembers the revision at which it first read the area's state. A client that sends back its [`Cursor`] gets every area
//! whose state the server first read at a later revision, each once, with the current state. A change can be sent twice, but none
//! is missed: a client that applies all deltas has the current states.

mod cursor;
mod delta;
mod follower;
mod full_state;
mod removed_reports;
mod state;
#[cfg(test)]
mod tests;
mod ticks;
mod withdrawn_revision;

pub(crate) use self::cursor::{Cursor, InvalidCursor};
pub(crate) use self::delta::Delta;
pub(crate) use self::follower::Follower;
pub(crate) use self::full_state::{FullState, FullStateBody, TooSlow};
pub(crate) use self::removed_reports::RemovedReports;
pub(crate) use self::state::{Snapshot, State};
pub(crate) use self::withdrawn_revision::WithdrawnRevision;
