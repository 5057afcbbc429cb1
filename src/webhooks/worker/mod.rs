mod actions;
mod pending_event;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use self::pending_event::{Candidate, PendingEvent};
use super::Shared;
use super::checkpoint::Checkpoint;
use super::event::{Ack, Event};
use super::list_reader::ListReader;
use super::payload_template::{PayloadError, PayloadTemplate, Request};
use super::report_reader::ReportReader;
use super::retry::{NextStep, Outcome, next_step};
use super::task::Task;
use super::transport::Transport;
use crate::config::{EventKind, WebhookSettings};
use crate::model::Timestamp;
use crate::stores::StoreError;
use crate::telemetry::DeliveryOutcome;

/// The shortest time between the starts of two requests of a webhook. Limits a webhook to ten requests a second.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// How long changes of flood states are collected into one request.
const COLLECT_FOR: Duration = Duration::from_secs(1);
const MAX_AREAS: usize = 100;
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(super) struct Worker {
    name: String,
    settings: WebhookSettings,
    template: PayloadTemplate,
    client: Arc<dyn Transport>,
    shared: Shared,
    reports: ReportReader,
    lists: ListReader,
    /// Epoch of the lease at the time the checkpoint was read.
    epoch: Option<u64>,
    version: u64,
    checkpoint: Checkpoint,
    collecting_since: Option<Instant>,
    /// The oldest event that the receiver has not accepted. Later events wait for it.
    pending: Option<PendingEvent>,
    /// Events that the receiver has not accepted, although it accepted later ones. Each is retried between later events.
    deferred: Vec<PendingEvent>,
    /// The number of failed requests since the receiver last accepted one.
    failures: u32,
    /// Whether the next request is a probe, which sends the event after the pending one.
    is_probing: bool,
    due: Instant,
}

enum Action {
    Wait,
    /// Acknowledge events without a request. The number counts the events that were too old.
    Acknowledge(Ack, u64),
    /// Skip an event, because no request could be rendered for it.
    Skip(Box<Event>, PayloadError),
    Send(Box<Event>, Request),
}

#[async_trait]
impl Task for Worker {
    const WHAT: &'static str = "webhooks";

    async fn run_step(&mut self) -> Result<Duration, StoreError> {
        let due = self.step().await?;
        Ok(due.saturating_duration_since(self.shared.clock.monotonic()).min(POLL_INTERVAL))
    }
}

impl Worker {
    pub(super) fn new(
        name: &str,
        settings: WebhookSettings,
        template: PayloadTemplate,
        client: Arc<dyn Transport>,
        shared: Shared,
    ) -> Self {
        Self {
            due: shared.clock.monotonic(),
            name: name.to_owned(),
            template,
            client,
            reports: ReportReader::new(shared.clone(), settings.clone()),
            lists: ListReader::new(shared.clone(), settings.clone()),
            settings,
            shared,
            epoch: None,
            version: 0,
            checkpoint: Checkpoint::default(),
            collecting_since: None,
            pending: None,
            deferred: Vec::new(),
            failures: 0,
            is_probing: false,
        }
    }

    /// Reads, sends or waits, and returns when to run the next step. If the store fails, the next step repeats this step.
    pub(super) async fn step(&mut self) -> Result<Instant, StoreError> {
        let now = self.shared.clock.monotonic();
        let next_poll = now + POLL_INTERVAL;
        let Some(epoch) = self.shared.lease.epoch() else {
            self.epoch = None;
            return Ok(next_poll);
        };
        if self.epoch != Some(epoch) && !self.load_checkpoint(Some(epoch)).await? {
            return Ok(now);
        }
        if self.checkpoint.off {
            return Ok(next_poll);
        }
        if now < self.due {
            return Ok(self.due.min(next_poll));
        }
        let webhook = self.name.clone();
        let (candidate, action) = self.next_candidate().await?;
        let ack = match action {
            Action::Wait => {
                if self.pending.is_none() {
                    self.save_waiting_since(None).await?;
                }
                return Ok(next_poll);
            }
            Action::Acknowledge(ack, 0) => ack,
            Action::Acknowledge(ack, count) => {
                tracing::warn!(
                    webhook,
                    count,
                    "events were not accepted within siaga.webhooks.{webhook}.max_age: dropped"
                );
                self.shared.metrics.count_deliveries(&webhook, DeliveryOutcome::Dropped, count);
                ack
            }
            Action::Skip(event, reason) => {
                let id = &event.id;
                tracing::error!(
                    webhook,
                    id,
                    "cannot render the request for an event, which is skipped: {reason}"
                );
                self.shared.metrics.count_deliveries(&webhook, DeliveryOutcome::Skipped, 1);
                event.ack
            }
            Action::Send(event, request) => {
                let client = Arc::clone(&self.client);
                let permit = self.shared.permits.acquire().await.ok();
                // Check the lease again, because it may have expired while the worker waited for the permit.
                if self.shared.lease.epoch().is_none_or(|present| present != epoch) {
                    return Ok(next_poll);
                }
                let started = self.shared.clock.monotonic();
                let outcome = client.send(request).await;
                drop(permit);
                self.due = started + MIN_INTERVAL;
                self.handle_outcome(candidate, &event, &outcome).await?;
                return Ok(self.due.min(next_poll));
            }
        };
        self.finish(candidate);
        self.acknowledge(&ack).await?;
        Ok(self.due.min(next_poll))
    }

    /// Loads or creates the checkpoint. Without an epoch, the worker loads it again once this server holds the lease. Returns
    /// `false` if another writer has changed it.
    pub(super) async fn load_checkpoint(&mut self, epoch: Option<u64>) -> Result<bool, StoreError> {
        let (now, due) = (self.shared.clock.now(), self.shared.clock.monotonic());
        let state = self.shared.store.webhook_states().await?.remove(&self.name);
        self.version = state.as_ref().map_or(0, |state| state.version);
        self.checkpoint = state.map(|state| Checkpoint::read(&state.text)).unwrap_or_default();
        self.reports.reset();
        (self.pending, self.failures, self.is_probing, self.due) = (None, 0, false, due);
        let deferred = self.checkpoint.deferred_reports().map(Ack::Report);
        self.deferred = deferred.map(|ack| PendingEvent { ack, attempts: 1, due }).collect();
        self.checkpoint.event.get_or_insert(self.settings.event);
        if !self.checkpoint.is_initialized(self.settings.event) {
            let (last, entries) = match self.settings.event {
                EventKind::Report => {
                    let last = self.shared.store.reports_from(None, 1).await?;
                    (last.first().map(|last| last.key), Arc::default())
                }
                // None is marked as sent, so sources and gauges that are silent now are sent.
                EventKind::Source | EventKind::Gauge => (None, Arc::default()),
                _ => (None, self.lists.entries_at(now, None).await?),
            };
            self.checkpoint.initialize(self.settings.event, last, &entries);
            if !self.save().await? {
                return Ok(false);
            }
        }
        self.epoch = epoch;
        self.shared.statuses.set(&self.name, &self.checkpoint);
        Ok(true)
    }

    /// Counts the outcome; then retries the event, acknowledges it, or switches the webhook off.
    async fn handle_outcome(
        &mut self,
        candidate: Candidate,
        event: &Event,
        outcome: &Outcome,
    ) -> Result<(), StoreError> {
        let (webhook, id) = (self.name.clone(), &event.id);
        let attempts = 1 + match candidate {
            Candidate::Next => self.pending.as_ref().map_or(0, |pending| pending.attempts),
            Candidate::Probe => 0,
            Candidate::Deferred(index) => self.deferred[index].attempts,
        };
        // A deferred event counts only its own failures, because they do not mean that the receiver is unavailable.
        let failures = if matches!(candidate, Candidate::Deferred(_)) { attempts } else { self.failures + 1 };
        let next = next_step(id, attempts, failures, outcome);
        let counted_as = match next {
            NextStep::Done => DeliveryOutcome::Sent,
            NextStep::Retry(_) | NextStep::Disable => DeliveryOutcome::Failed,
            NextStep::Discard => DeliveryOutcome::Skipped,
        };
        self.shared.metrics.count_deliveries(&webhook, counted_as, 1);
        match next {
            NextStep::Done if candidate == Candidate::Probe => self.defer(),
            NextStep::Done if self.checkpoint.waiting_since().is_some() => {
                tracing::info!(webhook, "the receiver of a webhook accepts requests again");
            }
            NextStep::Done => {}
            NextStep::Retry(wait) => {
                let due = self.due.max(self.shared.clock.monotonic() + wait);
                if failures == 1 {
                    tracing::warn!(webhook, id, ?outcome, "a webhook request failed and is retried");
                }
                let pending = PendingEvent { ack: event.ack.clone(), attempts, due };
                match candidate {
                    Candidate::Deferred(index) => self.deferred[index] = pending,
                    Candidate::Probe => self.is_probing = false,
                    Candidate::Next => {
                        self.failures = failures;
                        self.is_probing = self.is_probe_due(failures, outcome);
                        self.pending = Some(pending);
                        self.save_waiting_since(Some(event.at)).await?;
                    }
                }
                return Ok(());
            }
            NextStep::Discard => {
                tracing::error!(webhook, id, ?outcome, "the receiver rejects an event, which is skipped");
            }
            NextStep::Disable => {
                tracing::error!(
                    webhook,
                    "the receiver wants no more requests (410): off until siaga webhooks resume {webhook}"
                );
                self.checkpoint.off = true;
                return self.save().await.map(drop);
            }
        }
        self.failures = 0;
        self.finish(candidate);
        self.checkpoint.set_waiting_since(None);
        self.acknowledge(&event.ack).await
    }

    /// Moves the checkpoint past the event and saves it. A pending report is deferred.
    async fn acknowledge(&mut self, ack: &Ack) -> Result<(), StoreError> {
        // Defer a pending report, so that it is not lost when the checkpoint moves past it.
        if let Some(PendingEvent { ack: Ack::Report(key), .. }) = &self.pending {
            self.checkpoint.defer(*key);
        }
        self.checkpoint.acknowledge(ack);
        self.save().await.map(drop)
    }

    async fn save_waiting_since(&mut self, since: Option<Timestamp>) -> Result<(), StoreError> {
        if self.checkpoint.waiting_since() == since {
            return Ok(());
        }
        self.checkpoint.set_waiting_since(since);
        self.save().await.map(drop)
    }

    /// Saves the checkpoint. Returns `false` if a command or another server has changed it; the next step loads it again.
    async fn save(&mut self) -> Result<bool, StoreError> {
        let saved =
            self.shared.store.put_webhook_state(&self.name, self.version, &self.checkpoint.text()).await;
        if let Ok(true) = saved {
            self.version += 1;
            self.shared.statuses.set(&self.name, &self.checkpoint);
        } else {
            // The write may have succeeded, so force a reload: no epoch has this number.
            self.epoch = Some(u64::MAX);
        }
        saved
    }
}
