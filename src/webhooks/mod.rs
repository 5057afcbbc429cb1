//! Webhooks: requests that the service sends to bots, channels and other programs when something happens.
//!
//! There is no queue of events. The store holds one checkpoint for each webhook ([`WebhookStore`](crate::stores::WebhookStore)):
//! the key of the next report, or the marks of the list entries sent so far (newest change of each area, active alerts,
//! areas that need attention, sources). A worker compares the checkpoint with the data and sends the difference. If several
//! servers share a store, only the holder of the lease sends.

mod checkpoint;
mod commands;
mod dispatcher;
mod event;
mod lease;
mod list_reader;
mod payload_template;
mod report_reader;
mod resolver;
mod retry;
mod signature;
mod statuses;
mod task;
#[cfg(test)]
mod tests;
mod transport;
mod worker;

use std::sync::Arc;

use rocket::tokio::sync::Semaphore;

pub(crate) use self::checkpoint::Checkpoint;
pub(crate) use self::commands::{
    checkpoints, invalidate_lease, replace_state, replay, send_test, skip_imported, update_checkpoint,
};
pub(crate) use self::dispatcher::{Dispatcher, check};
pub(crate) use self::lease::Lease;
pub(crate) use self::payload_template::Request;
pub(crate) use self::retry::Outcome;
pub(crate) use self::statuses::WebhookStatuses;
pub(crate) use self::task::{Task, repeat};
#[cfg(test)]
pub(crate) use self::transport::TIMEOUT;
pub(crate) use self::transport::{Transport, http_client, pooled_client};
use crate::model::Clock;
use crate::model::alerts::Issuer;
use crate::sources::Sources;
use crate::stores::{AttentionList, GaugeStatuses, Store};
use crate::telemetry::Metrics;

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
    gauges: Arc<GaugeStatuses>,
    issuer: Arc<Issuer>,
    photos: Arc<str>,
}
