mod actions;
mod trials;

use std::sync::Arc;
use std::time::Duration;

use self::trials::{Trial, Turn};
use super::Shared;
use super::checkpoint::Checkpoint;
use super::event::{Ack, Event};
use super::list_reader::ListReader;
use super::payload_template::{PayloadError, PayloadTemplate, Request};
use super::report_reader::ReportReader;
use super::retry::{NextStep, Outcome, next_step};
use super::transport::Transport;
use crate::config::{EventKind, WebhookSettings};
use crate::model::Timestamp;
use crate::stores::StoreError;
use crate::telemetry::DeliveryOutcome;

/// How long after a request the next one of the same call begins: at most ten a second.
const PACE: Duration = Duration::from_millis(100);
/// How long changes of states are collected for one call.
const COLLECTED: Duration = Duration::from_secs(1);
/// How many areas one call has at most.
const AREAS: usize = 100;
/// How often to look for something to send.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// Sends the events of one call, one after the other.
pub(super) struct Worker {
    name: String,
    settings: WebhookSettings,
    composer: PayloadTemplate,
    /// Tests replace it.
    pub(super) client: Arc<dyn Transport>,
    shared: Shared,
    reports: ReportReader,
    lists: ListReader,
    /// The number of the term in which the checkpoint was read.
    term: Option<u64>,
    version: u64,
    checkpoint: Checkpoint,
    /// Since when there is something on the list that was not sent.
    collecting: Option<Timestamp>,
    /// The oldest event that the receiver has not taken. Later ones wait for it.
    trial: Option<Trial>,
    /// Events that the receiver has not taken, though it has taken later ones. They are tried beside those.
    aside: Vec<Trial>,
    /// How many requests the receiver has not taken since it last took one.
    failures: u32,
    /// Whether the next request is for the event after the one on trial: to find out whether the receiver takes others.
    is_probing: bool,
    /// When the next request may be sent.
    due: Timestamp,
    /// When the worker looked last.
    looked: Timestamp,
}

/// What to do next.
enum Action {
    /// Nothing yet.
    Wait,
    /// Go on without a request. So many events were too old.
    Acknowledge(Ack, u64),
    /// Go on, because there is no request for this event.
    Skip(Box<Event>, PayloadError),
    Send(Box<Event>, Request),
}

impl Worker {
    pub(super) fn new(
        name: &str,
        settings: WebhookSettings,
        composer: PayloadTemplate,
        client: impl Transport,
        shared: Shared,
    ) -> Self {
        Self {
            name: name.to_owned(),
            composer,
            client: Arc::new(client),
            reports: ReportReader::new(shared.clone(), settings.clone()),
            lists: ListReader::new(shared.clone(), settings.clone()),
            settings,
            shared,
            term: None,
            version: 0,
            checkpoint: Checkpoint::default(),
            collecting: None,
            trial: None,
            aside: Vec::new(),
            failures: 0,
            is_probing: false,
            due: Timestamp::EPOCH,
            looked: Timestamp::EPOCH,
        }
    }

    /// Does the next thing if it is due: reads, sends or waits. Returns when to go on.
    ///
    /// # Errors
    ///
    /// If the store fails. Then nothing is lost: the same is done again.
    pub(super) async fn step(&mut self) -> Result<Timestamp, StoreError> {
        let now = self.shared.clock.now();
        if now < self.looked {
            // The clock has stepped back: what is left to wait stays the same.
            let trials = self.trial.iter_mut().chain(&mut self.aside).map(|trial| &mut trial.due);
            for due in trials.chain([&mut self.due]) {
                *due = now.after(due.since(self.looked));
            }
        }
        self.looked = now;
        let later = now.after(LOOK);
        let Some(term) = self.shared.lease.epoch() else {
            self.term = None;
            return Ok(later);
        };
        if self.term != Some(term) && !self.begin(Some(term)).await? {
            return Ok(now);
        }
        if self.checkpoint.off {
            return Ok(later);
        }
        if now < self.due {
            return Ok(self.due.min(later));
        }
        let call = self.name.clone();
        let (turn, action) = self.next_turn(now).await?;
        let ack = match action {
            Action::Wait => {
                if self.trial.is_none() {
                    self.keep_waiting(None).await?;
                }
                return Ok(later);
            }
            Action::Acknowledge(ack, 0) => ack,
            Action::Acknowledge(ack, count) => {
                tracing::warn!(call, count, "events were not told within siaga.calls.{call}.for: dropped");
                self.shared.metrics.called(&call, DeliveryOutcome::Dropped, count);
                ack
            }
            Action::Skip(event, reason) => {
                let id = &event.id;
                tracing::error!(call, id, "there is no request for an event, which is skipped: {reason}");
                self.shared.metrics.called(&call, DeliveryOutcome::Skipped, 1);
                event.ack
            }
            Action::Send(event, request) => {
                let client = Arc::clone(&self.client);
                // The semaphore is never closed.
                let permit = self.shared.permits.acquire().await.ok();
                // A permit can take long, and the lease may have ended meanwhile.
                if self.shared.lease.epoch().is_none_or(|present| present != term) {
                    return Ok(later);
                }
                let begun = self.shared.clock.now();
                let outcome = client.post(request).await;
                drop(permit);
                self.due = begun.after(PACE);
                self.settle(turn, &event, &outcome).await?;
                return Ok(self.due.min(later));
            }
        };
        self.end(turn);
        self.acknowledge(&ack).await?;
        Ok(self.due.min(later))
    }

    /// Reads the checkpoint; a new call begins now. Without a term, which needs no lease, it is read again once this server sends.
    /// Returns `false` if another server has begun the call meanwhile.
    pub(super) async fn begin(&mut self, term: Option<u64>) -> Result<bool, StoreError> {
        let now = self.shared.clock.now();
        let kept = self.shared.store.webhook_states().await?.remove(&self.name);
        self.version = kept.as_ref().map_or(0, |kept| kept.version);
        self.checkpoint = kept.map(|kept| Checkpoint::read(&kept.text)).unwrap_or_default();
        self.reports.reset();
        (self.trial, self.failures, self.is_probing, self.due) = (None, 0, false, now);
        let aside = self.checkpoint.reports_aside().map(Ack::Report);
        self.aside = aside.map(|event| Trial { event, tries: 1, due: now }).collect();
        self.checkpoint.on.get_or_insert(self.settings.on);
        if !self.checkpoint.has_begun(self.settings.on) {
            let (last, entries) = match self.settings.on {
                EventKind::Report => {
                    let last = self.shared.store.reports_from(None, 1).await?;
                    (last.first().map(|last| last.key), Arc::default())
                }
                // Those that are silent now are sent.
                EventKind::Source => (None, Arc::default()),
                _ => (None, self.lists.present(now, None).await?),
            };
            self.checkpoint.begin(self.settings.on, last, &entries);
            if !self.keep().await? {
                return Ok(false);
            }
        }
        self.term = term;
        self.shared.statuses.set(&self.name, &self.checkpoint);
        Ok(true)
    }

    /// Goes on as the outcome of a try says.
    async fn settle(&mut self, turn: Turn, event: &Event, outcome: &Outcome) -> Result<(), StoreError> {
        let (call, id) = (self.name.clone(), &event.id);
        let tries = 1 + match turn {
            Turn::Next => self.trial.as_ref().map_or(0, |trial| trial.tries),
            Turn::Probe => 0,
            Turn::Aside(index) => self.aside[index].tries,
        };
        // One that was set aside tells nothing about the receiver.
        let failures = if matches!(turn, Turn::Aside(_)) { tries } else { self.failures + 1 };
        let next = next_step(id, tries, failures, outcome);
        let counted = match next {
            NextStep::Done => DeliveryOutcome::Sent,
            NextStep::Retry(_) | NextStep::Disable => DeliveryOutcome::Failed,
            NextStep::Discard => DeliveryOutcome::Skipped,
        };
        self.shared.metrics.called(&call, counted, 1);
        match next {
            NextStep::Done if turn == Turn::Probe => self.set_aside(),
            NextStep::Done if self.checkpoint.waiting().is_some() => {
                tracing::info!(call, "the receiver of a call is back");
            }
            NextStep::Done => {}
            NextStep::Retry(wait) => {
                let due = self.due.max(self.shared.clock.now().after(wait));
                if failures == 1 {
                    tracing::warn!(call, id, ?outcome, "a call failed and is tried again");
                }
                let trial = Trial { event: event.ack.clone(), tries, due };
                match turn {
                    Turn::Aside(index) => self.aside[index] = trial,
                    Turn::Probe => self.is_probing = false,
                    Turn::Next => {
                        self.failures = failures;
                        self.is_probing = self.probes_after(failures, outcome);
                        self.trial = Some(trial);
                        self.keep_waiting(Some(event.at)).await?;
                    }
                }
                return Ok(());
            }
            NextStep::Discard => {
                tracing::error!(call, id, ?outcome, "the receiver refuses an event, which is skipped");
            }
            NextStep::Disable => {
                tracing::error!(
                    call,
                    "the receiver wants no more calls (410): off until siaga calls resume {call}"
                );
                self.checkpoint.off = true;
                return self.keep().await.map(drop);
            }
        }
        self.failures = 0;
        self.end(turn);
        self.checkpoint.wait(None);
        self.acknowledge(&event.ack).await
    }

    /// Goes on after something that is done.
    async fn acknowledge(&mut self, ack: &Ack) -> Result<(), StoreError> {
        // What is still on trial must not be lost behind it.
        if let Some(Trial { event: Ack::Report(key), .. }) = &self.trial {
            self.checkpoint.set_aside(*key);
        }
        self.checkpoint.acknowledge(ack);
        self.keep().await.map(drop)
    }

    /// Keeps since when an event waits, if that has changed.
    async fn keep_waiting(&mut self, since: Option<Timestamp>) -> Result<(), StoreError> {
        if self.checkpoint.waiting() == since {
            return Ok(());
        }
        self.checkpoint.wait(since);
        self.keep().await.map(drop)
    }

    /// Keeps the checkpoint. If a command or another server has changed it meanwhile, it is read again.
    async fn keep(&mut self) -> Result<bool, StoreError> {
        let kept =
            self.shared.store.put_webhook_state(&self.name, self.version, &self.checkpoint.text()).await;
        if let Ok(true) = kept {
            self.version += 1;
            self.shared.statuses.set(&self.name, &self.checkpoint);
        } else {
            // After a failure it may have been kept. No term has this number, so the next step reads the store.
            self.term = Some(u64::MAX);
        }
        kept
    }
}
