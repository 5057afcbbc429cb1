//! Outgoing calls: requests that the service sends to bots, channels and other programs when something happens.
//!
//! There is no queue of events. Each call has a checkpoint in the store ([`WebhookStore`](crate::stores::WebhookStore)): the key of the next
//! report, or the marks of what it has sent of a list: the newest change of each area, the alerts in force, the areas that need
//! attention, the sources. A worker compares that with the data and sends the difference. One server of several sends: the one that
//! has the lease.

mod checkpoint;
mod dispatcher;
mod event;
mod lease;
mod list_reader;
mod orders;
mod payload_template;
mod report_reader;
mod resolver;
mod retry;
mod signature;
mod statuses;
#[cfg(test)]
mod tests;
mod transport;
mod worker;

use std::sync::Arc;

use rocket::tokio::sync::Semaphore;

pub(crate) use self::checkpoint::Checkpoint;
pub(crate) use self::dispatcher::{Dispatcher, check};
use self::lease::Lease;
pub(crate) use self::orders::{change, checkpoints, pass_import, replay, test};
pub(crate) use self::retry::Outcome;
pub(crate) use self::statuses::WebhookStatuses;
use crate::model::Clock;
use crate::model::alerts::Issuer;
use crate::sources::Sources;
use crate::stores::{AttentionList, Store};
use crate::telemetry::Metrics;

/// What all calls share.
#[derive(Clone, Debug)]
struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    lease: Arc<Lease>,
    permits: Arc<Semaphore>,
    statuses: WebhookStatuses,
    sources: Sources,
    attention: Arc<AttentionList>,
    issuer: Arc<Issuer>,
    /// The address of this service's photos.
    photos: Arc<str>,
}
