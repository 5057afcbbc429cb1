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
/// The number of requests to a push service that has answered none of the last ones.
const PROBE: u32 = 10;
/// The wait before the next probe. Phones get their messages within a minute after the service answers again.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);
/// The waits after the first failures for one phone. Later waits are the last.
const BACKOFF: [Duration; 2] = [Duration::from_secs(20), Duration::from_mins(1)];
/// The wait of a phone that fails for so long, and so often while its push service answers others.
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
    /// Whether the service has answered none of the last requests.
    is_away: bool,
}

/// What became of a record.
enum Attempt {
    /// There was nothing to tell.
    Skipped(PushUpdate),
    /// The push service has accepted the message.
    Told(PushUpdate, Box<Delivery>),
    /// The push service has answered that it does not take the message now, or never.
    Refused(PushUpdate),
    /// The push service has not answered, or with an error of its own, and how long it wants to be left alone.
    Away(PushRecord, Box<Subscription>, Duration),
}

/// What a phone was told.
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
        Self { shared, lease, service: service.to_owned(), is_away: false }
    }

    /// Sends one batch. Returns the wait until the next step.
    pub(super) async fn step(&mut self) -> Result<Duration, StoreError> {
        let Some(epoch) = self.lease.epoch() else { return Ok(POLL_INTERVAL) };
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        let most = if self.is_away { PROBE } else { BATCH };
        let due = store.due_push_records(&self.service, now, most).await?;
        if due.is_empty() {
            return Ok(POLL_INTERVAL);
        }
        let map = self.shared.map().await?;
        let (mut away, mut has_answer) = (Vec::new(), false);
        let sender = &*self;
        let attempts =
            iter(due).map(|record| sender.attempt(record, &map, epoch)).buffer_unordered(CONNECTIONS);
        // Results are stored while other requests still wait for an answer.
        let mut results = Box::pin(attempts.ready_chunks(CONNECTIONS));
        while let Some(results) = results.next().await {
            let (mut updates, mut told) = (Vec::new(), BTreeMap::new());
            for attempt in results {
                match attempt? {
                    Some(Attempt::Skipped(update)) => updates.push(update),
                    Some(Attempt::Refused(update)) => {
                        has_answer = true;
                        updates.push(update);
                    }
                    Some(Attempt::Told(update, what)) => {
                        has_answer = true;
                        told.insert(update.id, what);
                        updates.push(update);
                    }
                    Some(Attempt::Away(record, subscription, wait)) => {
                        away.push((record, subscription, wait));
                    }
                    // The lease was lost.
                    None => {}
                }
            }
            sender.store(updates, told).await?;
        }
        drop(results);
        let is_away = !has_answer && !away.is_empty();
        let postponed = away
            .into_iter()
            .map(|(record, subscription, wait)| self.postpone(&record, *subscription, wait, has_answer));
        let postponed: Vec<_> = postponed.collect();
        self.store(postponed, BTreeMap::new()).await?;
        self.is_away = is_away;
        Ok(if is_away { PROBE_INTERVAL } else { Duration::ZERO })
    }

    /// Stores what became of records. If somebody else has changed the record of a phone that was told, the new version says so too.
    async fn store(
        &self,
        updates: Vec<PushUpdate>,
        mut told: BTreeMap<u64, Box<Delivery>>,
    ) -> Result<(), StoreError> {
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        if updates.is_empty() {
            return Ok(());
        }
        for id in store.update_push_records(updates).await? {
            told.remove(&id);
        }
        for (id, delivery) in told {
            let note_told = |record: &PushRecord, subscription: &mut Subscription| {
                let is_same = record.content.endpoint == delivery.endpoint;
                (is_same && subscription.is_same_phone(&delivery.subscription)).then(|| {
                    subscription.note_told(&delivery.subscription, &delivery.flooded, now);
                    record.content.due.map(|_| subscription.next_message(now))
                })
            };
            self.shared.change(id, note_told).await?;
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
        // In an exercise nobody is told of floods.
        let Some(message) = message.filter(|_| self.shared.is_actual || is_without_areas) else {
            return Ok(Some(Attempt::Skipped(subscription.update(&record, None))));
        };
        let outcome = self.shared.send(&record.content.endpoint, &subscription, &message).await?;
        let count = |outcome| self.shared.metrics.count_deliveries(METRIC, outcome, 1);
        Ok(Some(match outcome {
            Outcome::Response { status: 200..=299, .. } => {
                count(DeliveryOutcome::Sent);
                if is_without_areas {
                    return Ok(Some(Attempt::Refused(record.removal())));
                }
                let endpoint = record.content.endpoint.clone();
                let delivery =
                    Delivery { endpoint, subscription: subscription.clone(), flooded: message.told };
                subscription.note_told(&delivery.subscription, &delivery.flooded, self.shared.clock.now());
                Attempt::Told(subscription.update(&record, None), Box::new(delivery))
            }
            Outcome::Response { status: 404 | 410, .. } => {
                count(DeliveryOutcome::Dropped);
                Attempt::Refused(record.removal())
            }
            Outcome::Response { status, retry_after } if status < 500 => {
                count(DeliveryOutcome::Failed);
                let is_final = !matches!(status, 408 | 429) && self.is_hopeless(&subscription);
                let wait = retry_after.unwrap_or_default();
                let postponed = |subscription| self.postpone(&record, subscription, wait, true);
                Attempt::Refused(if is_final { record.removal() } else { postponed(subscription) })
            }
            Outcome::Response { retry_after, .. } => {
                count(DeliveryOutcome::Failed);
                Attempt::Away(record, Box::new(subscription), retry_after.unwrap_or_default())
            }
            Outcome::Failed(_) => {
                count(DeliveryOutcome::Failed);
                Attempt::Away(record, Box::new(subscription), Duration::ZERO)
            }
        }))
    }

    /// Whether a subscription ends with one more refusal.
    fn is_hopeless(&self, Subscription { failures, failed_since, .. }: &Subscription) -> bool {
        let passed = |since| self.shared.clock.now().saturating_duration_since(since);
        *failures + 1 >= MIN_FAILURES && failed_since.is_some_and(|since| passed(since) > HOPELESS_AFTER)
    }

    /// Returns the update that tries again later, after `wait` or longer. While its whole service is away, a phone does not count a
    /// failure.
    fn postpone(
        &self,
        record: &PushRecord,
        mut subscription: Subscription,
        wait: Duration,
        has_answer: bool,
    ) -> PushUpdate {
        let now = self.shared.clock.now();
        let since = *subscription.failed_since.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        let backoff = if !has_answer {
            PROBE_INTERVAL
        } else if subscription.failures >= MANY_FAILURES && passed > FAILING_FOR {
            LONG_BACKOFF
        } else if !wait.is_zero() {
            // The service says itself when it takes the message.
            MIN_RETRY_AFTER
        } else {
            BACKOFF[(subscription.failures as usize).min(BACKOFF.len() - 1)]
        };
        subscription.failures += u32::from(has_answer);
        let due = now.saturating_add(wait.min(MAX_RETRY_AFTER).max(backoff));
        subscription.update(record, Some(due))
    }
}
