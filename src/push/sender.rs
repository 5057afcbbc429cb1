use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::futures::StreamExt;
use rocket::futures::stream::iter;

use super::flood_map::{FloodMap, Mark};
use super::subscription::Subscription;
use super::{CONNECTIONS, POLL_INTERVAL, Shared};
use crate::stores::{PushRecord, PushUpdate, StoreError};
use crate::telemetry::DeliveryOutcome;
use crate::webhooks::{Lease, Outcome, Task};

/// The name under which the metrics of webhooks count push messages.
const METRIC: &str = "push";
const BATCH: u32 = 1_000;
/// The number of requests to a push service if all of the last ones have failed.
const PROBE: u32 = 10;
/// The wait before the next probe. Phones get their messages within a minute after the service responds again.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);
/// The waits after the first failures for one phone. Later waits are the last.
const BACKOFF: [Duration; 2] = [Duration::from_secs(20), Duration::from_mins(1)];
/// The wait of a phone that fails for so long, and so often while its push service accepts messages to others.
const LONG_BACKOFF: Duration = Duration::from_hours(1);
const FAILING_FOR: Duration = Duration::from_hours(1);
const MANY_FAILURES: u32 = 50;
/// A subscription ends if all attempts of so many days, and at least so many, have failed.
const HOPELESS_AFTER: Duration = Duration::from_hours(24 * 60);
const MIN_FAILURES: u32 = 3;
const MIN_RETRY_AFTER: Duration = Duration::from_secs(5);
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Sends what is due to the phones of one push service.
pub(super) struct Sender {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    service: String,
    /// Whether all of the last requests have failed.
    is_unavailable: bool,
}

/// The result of an attempt to send the message of a record.
enum Attempt {
    /// No message is due any more.
    Skipped(PushUpdate),
    /// The push service has accepted a message about floods.
    Sent(PushUpdate, Box<Delivery>),
    /// The push service has rejected the message for now or for ever, or the record has ended with its last message.
    Settled(PushUpdate),
    /// The push service has not responded, or with 5xx. The time is its `Retry-After`.
    Unavailable(PushRecord, Box<Subscription>, Duration),
}

/// A message that was accepted: the subscription when it was written, and its flooded areas.
struct Delivery {
    endpoint: String,
    subscription: Subscription,
    flooded: BTreeMap<u64, Mark>,
}

#[async_trait]
impl Task for Sender {
    const WHAT: &'static str = "push messages";

    async fn run_step(&mut self) -> Result<Duration, StoreError> {
        self.step().await
    }
}

impl Sender {
    pub(super) fn new(shared: Arc<Shared>, lease: Arc<Lease>, service: &str) -> Self {
        shared.metrics.init_webhook(METRIC);
        Self { shared, lease, service: service.to_owned(), is_unavailable: false }
    }

    /// Sends one batch. Returns the wait until the next step.
    pub(super) async fn step(&mut self) -> Result<Duration, StoreError> {
        let Some(epoch) = self.lease.epoch() else { return Ok(POLL_INTERVAL) };
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        let most = if self.is_unavailable { PROBE } else { BATCH };
        let due = store.due_push_records(&self.service, now, most).await?;
        if due.is_empty() {
            return Ok(POLL_INTERVAL);
        }
        let map = self.shared.map().await?;
        let (mut unavailable, mut has_response) = (Vec::new(), false);
        let sender = &*self;
        let attempts =
            iter(due).map(|record| sender.attempt(record, &map, epoch)).buffer_unordered(CONNECTIONS);
        // Results are stored while other requests still wait for a response.
        let mut results = Box::pin(attempts.ready_chunks(CONNECTIONS));
        while let Some(results) = results.next().await {
            let (mut updates, mut deliveries) = (Vec::new(), BTreeMap::new());
            for attempt in results {
                match attempt? {
                    Some(Attempt::Skipped(update)) => updates.push(update),
                    Some(Attempt::Settled(update)) => {
                        has_response = true;
                        updates.push(update);
                    }
                    Some(Attempt::Sent(update, delivery)) => {
                        has_response = true;
                        deliveries.insert(update.id, delivery);
                        updates.push(update);
                    }
                    Some(Attempt::Unavailable(record, subscription, wait)) => {
                        unavailable.push((record, subscription, wait));
                    }
                    // The lease was lost.
                    None => {}
                }
            }
            sender.store(updates, deliveries).await?;
        }
        drop(results);
        let is_unavailable = !has_response && !unavailable.is_empty();
        let postponed = unavailable
            .into_iter()
            .map(|(record, subscription, wait)| self.postpone(&record, *subscription, wait, has_response));
        let postponed: Vec<_> = postponed.collect();
        self.store(postponed, BTreeMap::new()).await?;
        self.is_unavailable = is_unavailable;
        Ok(if is_unavailable { PROBE_INTERVAL } else { Duration::ZERO })
    }

    /// Stores the results of attempts. If somebody else has changed the record of a delivery meanwhile, the delivery is noted in the new
    /// version.
    async fn store(
        &self,
        updates: Vec<PushUpdate>,
        mut deliveries: BTreeMap<u64, Box<Delivery>>,
    ) -> Result<(), StoreError> {
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        if updates.is_empty() {
            return Ok(());
        }
        for id in store.update_push_records(updates).await? {
            deliveries.remove(&id);
        }
        for (id, delivery) in deliveries {
            let note_sent = |record: &PushRecord, subscription: &mut Subscription| {
                let is_same = record.content.endpoint == delivery.endpoint;
                (is_same && subscription.is_same_phone(&delivery.subscription)).then(|| {
                    subscription.note_sent(&delivery.subscription, &delivery.flooded, now);
                    record.content.due.map(|_| subscription.next_message(now))
                })
            };
            self.shared.change(id, note_sent).await?;
        }
        Ok(())
    }

    /// Sends the message of a record. `None` if this server has lost the lease.
    async fn attempt(
        &self,
        record: PushRecord,
        map: &FloodMap,
        epoch: u64,
    ) -> Result<Option<Attempt>, StoreError> {
        let Some(mut subscription) = Subscription::read(&record) else {
            return Ok(Some(Attempt::Skipped(record.removal())));
        };
        if self.lease.epoch() != Some(epoch) {
            return Ok(None);
        }
        let writer = self.shared.writer(&subscription.language);
        let is_without_areas = map.selected(&subscription).next().is_none();
        let message =
            if is_without_areas { Some(writer.choose_again()) } else { writer.due(&subscription, map) };
        // In an exercise, phones get only first messages and trials.
        let Some(message) = message.filter(|_| self.shared.is_actual) else {
            return Ok(Some(Attempt::Skipped(subscription.update(&record, None))));
        };
        let outcome = self.shared.send(&record.content.endpoint, &subscription, &message).await?;
        let count = |outcome| self.shared.metrics.count_deliveries(METRIC, outcome, 1);
        Ok(Some(match outcome {
            Outcome::Response { status: 200..=299, .. } => {
                count(DeliveryOutcome::Sent);
                if is_without_areas {
                    return Ok(Some(Attempt::Settled(record.removal())));
                }
                let endpoint = record.content.endpoint.clone();
                let delivery =
                    Delivery { endpoint, subscription: subscription.clone(), flooded: message.flooded };
                subscription.note_sent(&delivery.subscription, &delivery.flooded, self.shared.clock.now());
                Attempt::Sent(subscription.update(&record, None), Box::new(delivery))
            }
            Outcome::Response { status: 404 | 410, .. } => {
                count(DeliveryOutcome::Dropped);
                Attempt::Settled(record.removal())
            }
            Outcome::Response { status, retry_after } if status < 500 => {
                count(DeliveryOutcome::Failed);
                let is_final = !matches!(status, 408 | 429) && self.is_hopeless(&subscription);
                let wait = retry_after.unwrap_or_default();
                let postponed = |subscription| self.postpone(&record, subscription, wait, true);
                Attempt::Settled(if is_final { record.removal() } else { postponed(subscription) })
            }
            Outcome::Response { retry_after, .. } => {
                count(DeliveryOutcome::Failed);
                Attempt::Unavailable(record, Box::new(subscription), retry_after.unwrap_or_default())
            }
            Outcome::Failed(_) => {
                count(DeliveryOutcome::Failed);
                Attempt::Unavailable(record, Box::new(subscription), Duration::ZERO)
            }
        }))
    }

    /// Whether a subscription ends with one more refusal.
    fn is_hopeless(&self, Subscription { failures, failed_since, .. }: &Subscription) -> bool {
        let passed = |since| self.shared.clock.now().saturating_duration_since(since);
        *failures + 1 >= MIN_FAILURES && failed_since.is_some_and(|since| passed(since) > HOPELESS_AFTER)
    }

    /// Returns the update that tries again later, after `wait` or longer. While its whole push service is unavailable, a phone does not
    /// count a failure.
    fn postpone(
        &self,
        record: &PushRecord,
        mut subscription: Subscription,
        wait: Duration,
        has_response: bool,
    ) -> PushUpdate {
        let now = self.shared.clock.now();
        let since = *subscription.failed_since.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        let backoff = if !has_response {
            PROBE_INTERVAL
        } else if subscription.failures >= MANY_FAILURES && passed > FAILING_FOR {
            LONG_BACKOFF
        } else if !wait.is_zero() {
            // `Retry-After` decides.
            MIN_RETRY_AFTER
        } else {
            BACKOFF[(subscription.failures as usize).min(BACKOFF.len() - 1)]
        };
        subscription.failures += u32::from(has_response);
        let due = now.saturating_add(wait.min(MAX_RETRY_AFTER).max(backoff));
        subscription.update(record, Some(due))
    }
}
