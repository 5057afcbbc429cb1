//! Alerts: messages to alert hubs that a flood began, changed, continues or is over.
//!
//! Messages are not stored but derived from an area's log of flood states, so all servers and stores derive the same ones, back
//! to the first entry of an imported history. The durations are constants, because changing them would change the identity of
//! sent messages.
//!
//! - A *run* is a series of entries of one area with the same state, each confirmed at most [`CONFIRMED_FOR`] after the one
//!   before. Setting the same state again confirms a run.
//! - A run with a state has a message when it begins, and a renewal every [`RENEWAL`] while its state was confirmed at most
//!   [`CONFIRMED_FOR`] ago.
//! - A run without a state (a clearing) has a `Cancel` if the message before it has not expired. So has a run whose state was
//!   restored by undoing a change, if that state has been unconfirmed for longer than [`CONFIRMED_FOR`].
//! - A message refers to the area's earlier messages that have neither expired nor been cancelled. It is an `Update` if
//!   there are any, otherwise an `Alert`.
//! - An entry counts once it is stored. If its time is ahead of the clock, its message is shown at once, and `sent` is the time
//!   of receipt.
//!
//! While the log is only appended to, a message that was shown keeps its identity, `sent`, `expires` and references.

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
pub(crate) use self::chain::{
    MessageInForce, find, horizon, in_force, log_window_start, log_window_start_in_force,
};
pub(crate) use self::exercise::Exercise;
pub use self::issuer::{Issuer, Status};
pub use self::log_entry::{LogEntry, entries};
pub use self::message::{Message, MessageKey, MessageType, Reference};

/// How long a message is valid.
pub const LIFETIME: Duration = Duration::from_hours(6);

/// The interval between messages of a run. Less than [`LIFETIME`], so that one is always valid.
pub const RENEWAL: Duration = Duration::from_hours(5);

/// How long a run is renewed after its state was last confirmed, so that an unconfirmed state is not shown for days.
pub const CONFIRMED_FOR: Duration = Duration::from_hours(24);

/// A renewal is shown this long after it was sent, so that changes whose commit is in progress come first. Covers commits of up
/// to 15 s: the default `limits.timeout`, plus 5 s. With a longer timeout, a late change can remove a renewal that was shown.
pub const SETTLING: Duration = Duration::from_secs(15);

/// For this long, a list of messages shows the time of its last change.
pub(crate) const REMEMBERED: Duration = Duration::from_hours(24);

/// The maximum number of references of a message.
pub const MOST_REFERENCES: usize = 50;
