//! Alerts: messages to alert hubs that a flood began, changed, continues or is over.
//!
//! Messages are not stored, but derived from an area's log of flood states. So all servers and stores derive the same messages,
//! even for an imported history. The durations are constants, because changing them would change the identity of sent messages.
//!
//! - A *run* is a series of entries of one area with the same state, each confirmed at most [`CONFIRMED_FOR`] after the
//!   previous entry. Setting the same state again confirms a run.
//! - A run with a state has a message when it begins, and a renewal every [`RENEWAL`] while its state was confirmed at most
//!   [`CONFIRMED_FOR`] ago.
//! - A run without a state (a clearing) has a `Cancel` if the message before it has not expired. A run whose state was restored
//!   by undoing a change also has a `Cancel`, if that state has been unconfirmed for longer than [`CONFIRMED_FOR`].
//! - A message refers to the area's earlier messages that are still valid: not expired and not cancelled. It is an `Update`
//!   if there are such messages, otherwise an `Alert`.
//! - An entry counts as soon as it is stored. If its time is ahead of the clock, its message is still shown at once, and `sent`
//!   is the time of receipt.
//!
//! As long as the log only grows at its end, a message that was shown keeps its identity, `sent`, `expires` and references.

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

/// The interval between messages of a run. Less than [`LIFETIME`], so that a run always has a valid message.
pub const RENEWAL: Duration = Duration::from_hours(5);

/// How long a run has renewals after its state was last confirmed. Without this limit, an unconfirmed state would stay for ever.
pub const CONFIRMED_FOR: Duration = Duration::from_hours(24);

/// The delay from sending to showing a renewal. Until then, changes whose commit is in progress can still replace it. Covers
/// commits of up to 15 s: the default `limits.timeout`, plus 5 s. With a longer timeout, a late change can remove a renewal
/// that was shown.
pub const SETTLING: Duration = Duration::from_secs(15);

/// How long a list of messages shows the time of its last change.
pub(crate) const REMEMBERED: Duration = Duration::from_hours(24);

/// The maximum number of references of a message.
pub const MOST_REFERENCES: usize = 50;
