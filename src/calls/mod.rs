//! Outgoing calls: requests that the service sends to bots, channels and other programs when something happens.
//!
//! There is no queue of events. Each call has a place in data that is ordered anyway, the log of flood states or the reports by
//! their keys, or knows what it has told of a list: the alerts in force, the areas that need attention, the silent sources. The
//! store keeps that ([`CallStore`](crate::stores::CallStore)). One server of several sends: the one that has the lease.

mod client;
mod composer;
mod event;
mod lease;
mod lists;
mod orders;
mod progress;
mod reachable;
mod reader;
mod retry;
mod sender;
mod signature;
mod statuses;
#[cfg(test)]
mod tests;
mod worker;

pub(crate) use self::orders::{change, pass_import, progress, replay, test};
pub(crate) use self::progress::Progress;
pub(crate) use self::retry::Outcome;
pub(crate) use self::sender::{Sender, check};
pub(crate) use self::statuses::CallStatuses;
