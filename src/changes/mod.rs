//! What changed since a client last looked: one delta, which clients poll or receive as a stream.
//!
//! The unit of change is the store's revision, which is read together with the data and grows in the order of commits. Each
//! server remembers at which revision it first read each area's state. A client that sends back its [`Cursor`] gets every area
//! whose state was first read after it, each once, with the current state. A change can be sent twice, but none is missed: a
//! client that applies all deltas to the states it had has the current states.

mod cursor;
mod delta;
mod follower;
mod full;
mod removed_reports;
mod state;
#[cfg(test)]
mod tests;
mod ticks;
mod withdrawn;

pub(crate) use self::cursor::{Cursor, InvalidCursor};
pub(crate) use self::delta::Delta;
pub(crate) use self::follower::Follower;
pub(crate) use self::full::{FullState, FullStateBody, TooSlow};
pub(crate) use self::removed_reports::RemovedReports;
pub(crate) use self::state::{Reading, State};
pub(crate) use self::withdrawn::WithdrawnRevision;
