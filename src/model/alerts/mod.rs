//! Alerts: the messages that tell alert hubs that a flood began, changed, continues or is over.
//!
//! Messages are not stored. They follow from the log of flood states of an area, so every server and every store makes the
//! same ones, back to the first entry of an imported history. The terms are constants, because changing them would change the
//! identity of messages that were sent.
//!
//! - A *run* is a series of entries of one area with the same state, each confirmed at most [`CONFIRMED_FOR`] after the one
//!   before. Setting the same state again confirms a run.
//! - A run with a state has a message when it begins, and a renewal every [`RENEWAL`] for as long as it lasts and its state was
//!   confirmed at most [`CONFIRMED_FOR`] ago.
//! - A run without a state, a clearing, is a `Cancel` if the message before it has not expired. So is a run with a state that
//!   was restored by undoing a change, if nobody has confirmed it for longer than [`CONFIRMED_FOR`].
//! - A message refers to the earlier messages of its area that have neither expired nor been cancelled. The first one has none
//!   to refer to, and is an `Alert`; those that refer to others are `Update`s.
//! - An entry counts from the moment it is stored. If its time is ahead of the clock, because a clock was ahead, its message is
//!   shown at once, and was `sent` when the entry was received.
//!
//! While the log grows at its end, a message that was shown keeps its identity, `sent`, `expires` and references.

mod chain;
mod exercise;
mod issuer;
mod log_entry;
mod message;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::chain::messages;
pub(crate) use self::chain::{InForce, find, horizon, in_force, reach, reach_in_force};
pub(crate) use self::exercise::Exercise;
pub use self::issuer::{Issuer, Status};
pub use self::log_entry::{LogEntry, entries};
pub use self::message::{Message, MessageKey, MessageType, Reference};

/// How long a message is valid.
pub const LIFETIME: Duration = Duration::from_hours(6);

/// How long after a message the next one about the same run is sent. Less than [`LIFETIME`], so that one is always valid.
pub const RENEWAL: Duration = Duration::from_hours(5);

/// How long after its state was last confirmed a run is renewed: a state that nobody confirms is not shown for days.
pub const CONFIRMED_FOR: Duration = Duration::from_hours(24);

/// How long after it is sent a renewal is shown, so that a change that is still being committed comes before it. This covers
/// commits that take up to 15 s, the default of `limits.timeout` and 5 s; with a longer timeout, a late change can remove a
/// renewal that was shown.
pub const SETTLING: Duration = Duration::from_secs(15);

/// How long a list of messages says when it last changed.
pub(crate) const REMEMBERED: Duration = Duration::from_hours(24);

/// How many messages one refers to at most.
pub const MOST_REFERENCES: usize = 50;
