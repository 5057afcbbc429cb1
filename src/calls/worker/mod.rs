mod events;
mod trials;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::Semaphore;

use self::trials::{Trial, Turn};
use super::client::Post;
use super::composer::{Composer, NotComposed, Request};
use super::event::{Event, Passed};
use super::lease::Lease;
use super::lists::Lists;
use super::progress::Progress;
use super::reader::Reader;
use super::retry::{Next, Outcome, next};
use super::statuses::CallStatuses;
use crate::config::{CallSettings, EventKind};
use crate::model::alerts::Issuer;
use crate::model::{Clock, Report, Timestamp};
use crate::sources::Sources;
use crate::stores::{AttentionList, Store, StoreError};
use crate::telemetry::{CallOutcome, Metrics};

/// How long after a request the next one of the same call begins: at most ten a second.
const PACE: Duration = Duration::from_millis(100);
/// How long changes of states are collected for one call.
const COLLECTED: Duration = Duration::from_secs(1);
/// How many areas one call has at most.
const AREAS: usize = 100;
/// How often to look for something to tell.
const LOOK: Duration = Duration::from_millis(250);

/// What all calls share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Metrics,
    pub(super) lease: Arc<Lease>,
    pub(super) permits: Arc<Semaphore>,
    pub(super) statuses: CallStatuses,
    pub(super) sources: Sources,
    pub(super) attention: Arc<AttentionList>,
    pub(super) issuer: Arc<Issuer>,
    /// The address of this service's photos.
    pub(super) photos: Arc<str>,
}

/// Sends the events of one call, one after the other.
pub(super) struct Worker {
    name: String,
    settings: CallSettings,
    composer: Composer,
    client: Arc<dyn Post>,
    shared: Shared,
    reader: Reader,
    lists: Lists,
    /// The number of the term in which the progress was read.
    term: Option<u64>,
    version: u64,
    progress: Progress,
    /// Since when there is something on the list that was not told.
    collecting: Option<Timestamp>,
    /// Reports that were read and not sent yet.
    reports: VecDeque<Arc<Report>>,
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

/// What comes next.
enum Head {
    /// Nothing yet.
    Nothing,
    /// The event on trial is not told any more.
    Over,
    /// This was passed without telling it.
    Passed(Passed),
    /// This was too old, so many events of it.
    Dropped(u64, Passed),
    /// There is no request for this event.
    Impossible(Box<Event>, NotComposed),
    Event(Box<Event>, Request),
}

impl Worker {
    pub(super) fn new(
        name: &str,
        settings: CallSettings,
        composer: Composer,
        client: Arc<dyn Post>,
        shared: Shared,
    ) -> Self {
        let reader = Reader::new(Arc::clone(&shared.store), settings.clone());
        let (attention, issuer) = (Arc::clone(&shared.attention), Arc::clone(&shared.issuer));
        let lists = Lists::new(Arc::clone(&shared.store), attention, issuer, settings.clone());
        let due = Timestamp::EPOCH;
        Self {
            name: name.to_owned(),
            settings,
            composer,
            client,
            shared,
            reader,
            lists,
            term: None,
            version: 0,
            progress: Progress::default(),
            collecting: None,
            reports: VecDeque::new(),
            trial: None,
            aside: Vec::new(),
            failures: 0,
            is_probing: false,
            due,
            looked: due,
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
        let Some(term) = self.shared.lease.term() else {
            self.term = None;
            return Ok(later);
        };
        if self.term != Some(term) && !self.begin(term, now).await? {
            return Ok(now);
        }
        if self.progress.off {
            return Ok(later);
        }
        if now < self.due {
            return Ok(self.due.min(later));
        }
        let (turn, head) = self.next_turn(now).await?;
        match head {
            Head::Nothing => {
                if self.trial.is_none() {
                    self.keep_waiting(None).await?;
                }
                return Ok(later);
            }
            Head::Over => {
                if let Some(report @ Passed::Report(_)) = self.end(turn) {
                    self.pass(&report).await?;
                }
            }
            Head::Passed(passed) => self.pass(&passed).await?,
            Head::Dropped(count, passed) => {
                let call = &self.name;
                tracing::warn!(call, count, "events were not told within siaga.calls.{call}.for: dropped");
                self.shared.metrics.called(call, CallOutcome::Dropped, count);
                self.end(turn);
                self.pass(&passed).await?;
            }
            Head::Impossible(event, reason) => {
                let (call, id) = (&self.name, &event.id);
                tracing::error!(call, id, "there is no request for an event, which is skipped: {reason}");
                self.shared.metrics.called(call, CallOutcome::Skipped, 1);
                self.end(turn);
                self.pass(&event.passed).await?;
            }
            Head::Event(event, request) => {
                let client = Arc::clone(&self.client);
                // The semaphore is never closed.
                let permit = self.shared.permits.acquire().await.ok();
                // A permit can take long, and the lease may have ended meanwhile.
                if self.shared.lease.term().is_none_or(|present| present != term) {
                    return Ok(later);
                }
                let begun = self.shared.clock.now();
                let outcome = client.post(request).await;
                drop(permit);
                self.due = begun.after(PACE);
                self.settle(turn, &event, &outcome).await?;
            }
        }
        Ok(self.due.min(later))
    }

    /// Lets a new call begin now, if no server has begun it. No lease is needed for that.
    pub(super) async fn begin_if_new(&mut self) -> Result<(), StoreError> {
        self.read_progress().await?;
        if !self.progress.has_begun(self.settings.on) {
            self.begin_now(self.shared.clock.now()).await?;
        }
        // It is read again once this server sends.
        self.term = None;
        Ok(())
    }

    /// Reads how far the call has come; a new one begins now. Returns `false` if another server has begun it meanwhile.
    async fn begin(&mut self, term: u64, now: Timestamp) -> Result<bool, StoreError> {
        self.read_progress().await?;
        self.reader.begin_again();
        self.reports.clear();
        (self.trial, self.failures, self.is_probing, self.due) = (None, 0, false, now);
        let aside = self.progress.reports_aside().map(Passed::Report);
        self.aside = aside.map(|event| Trial { event, tries: 1, due: now }).collect();
        if !self.progress.has_begun(self.settings.on) && !self.begin_now(now).await? {
            return Ok(false);
        }
        self.term = Some(term);
        self.shared.statuses.set(&self.name, &self.progress);
        Ok(true)
    }

    async fn read_progress(&mut self) -> Result<(), StoreError> {
        let kept = self.shared.store.kept_calls().await?.remove(&self.name);
        self.version = kept.as_ref().map_or(0, |kept| kept.version);
        self.progress = kept.map(|kept| Progress::read(&kept.text)).unwrap_or_default();
        Ok(())
    }

    /// Lets a new call begin after what is there already. Returns `false` if another server has begun it meanwhile.
    async fn begin_now(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let last = self.shared.store.reports_from(None, 1).await?.first().map(|last| last.key);
        let listed = match self.settings.on {
            EventKind::State | EventKind::Alert | EventKind::Attention => self.lists.present(now).await?,
            EventKind::Report | EventKind::Source => Arc::default(),
        };
        self.progress.begin(self.settings.on, last, &listed);
        self.keep().await
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
        let next = next(id, tries, failures, outcome);
        let counted = match next {
            Next::Done => CallOutcome::Sent,
            Next::Again(_) | Next::Off => CallOutcome::Failed,
            Next::Skip => CallOutcome::Skipped,
        };
        self.shared.metrics.called(&call, counted, 1);
        match next {
            Next::Done => {
                if turn == Turn::Probe {
                    self.set_aside();
                } else if self.progress.waiting().is_some() {
                    tracing::info!(call, "the receiver of a call is back");
                }
                self.failures = 0;
                self.end(turn);
                self.progress.wait(None);
                self.pass(&event.passed).await
            }
            Next::Again(wait) => {
                let due = self.due.max(self.shared.clock.now().after(wait));
                if failures == 1 {
                    tracing::warn!(call, id, ?outcome, "a call failed and is tried again");
                }
                let trial = Trial { event: event.passed.clone(), tries, due };
                match turn {
                    Turn::Aside(index) => self.aside[index] = trial,
                    Turn::Probe => self.is_probing = false,
                    Turn::Next => {
                        self.failures = failures;
                        self.is_probing = self.probes_after(failures, outcome);
                        self.take_from_reports(&trial.event);
                        self.trial = Some(trial);
                        return self.keep_waiting(Some(event.at)).await;
                    }
                }
                Ok(())
            }
            Next::Skip => {
                tracing::error!(call, id, ?outcome, "the receiver refuses an event, which is skipped");
                self.failures = 0;
                self.end(turn);
                self.progress.wait(None);
                self.pass(&event.passed).await
            }
            Next::Off => {
                tracing::error!(
                    call,
                    "the receiver wants no more calls (410): off until siaga calls resume {call}"
                );
                self.progress.off = true;
                self.keep().await.map(drop)
            }
        }
    }

    /// Goes on after something.
    async fn pass(&mut self, passed: &Passed) -> Result<(), StoreError> {
        // What is still on trial must not be lost behind it.
        if let Some(Trial { event: Passed::Report(key), .. }) = &self.trial {
            self.progress.set_aside(*key);
        }
        self.progress.pass(passed);
        self.take_from_reports(passed);
        self.keep().await.map(drop)
    }

    /// Keeps since when an event waits, if that has changed.
    async fn keep_waiting(&mut self, since: Option<Timestamp>) -> Result<(), StoreError> {
        if self.progress.waiting() == since {
            return Ok(());
        }
        self.progress.wait(since);
        self.keep().await.map(drop)
    }

    /// Keeps the progress. If a command or another server has changed it meanwhile, it is read again.
    async fn keep(&mut self) -> Result<bool, StoreError> {
        let kept = self.shared.store.keep_call(&self.name, self.version, &self.progress.text()).await;
        if let Ok(true) = kept {
            self.version += 1;
            self.shared.statuses.set(&self.name, &self.progress);
        } else {
            // After a failure it may have been kept. A number that no term has makes it read the store.
            self.term = Some(u64::MAX);
        }
        kept
    }
}
