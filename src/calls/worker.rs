use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rocket::tokio::sync::Semaphore;

use super::client::Post;
use super::composer::{Composer, NotComposed, Request};
use super::event::{Event, Passed};
use super::lease::Lease;
use super::lists::{Listed, Lists};
use super::progress::Progress;
use super::reader::Reader;
use super::retry::{Next, Outcome, next};
use super::statuses::CallStatuses;
use crate::config::{CallSettings, EventKind};
use crate::model::alerts::Issuer;
use crate::model::{Clock, Report, ReportKey, SourceStatus, Timestamp};
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
    /// How often the present event was tried.
    tries: u32,
    /// When to go on.
    due: Timestamp,
    /// When the worker looked last.
    looked: Timestamp,
}

/// What comes next.
enum Head {
    /// Nothing yet.
    Nothing,
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
            tries: 0,
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
            self.due = now.after(self.due.since(self.looked));
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
        match self.head(now).await? {
            Head::Nothing => {
                self.keep_waiting(None).await?;
                return Ok(later);
            }
            Head::Passed(passed) => self.pass(&passed).await?,
            Head::Dropped(count, passed) => {
                let call = &self.name;
                tracing::warn!(call, count, "events were not told within siaga.calls.{call}.for: dropped");
                self.shared.metrics.called(call, CallOutcome::Dropped, count);
                self.pass(&passed).await?;
            }
            Head::Impossible(event, reason) => {
                let (call, id) = (&self.name, &event.id);
                tracing::error!(call, id, "there is no request for an event, which is skipped: {reason}");
                self.shared.metrics.called(call, CallOutcome::Skipped, 1);
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
                self.settle(&event, &outcome).await?;
            }
        }
        Ok(self.due.min(later))
    }

    /// Reads how far the call has come; a new one begins now. Returns `false` if another server has begun it meanwhile.
    async fn begin(&mut self, term: u64, now: Timestamp) -> Result<bool, StoreError> {
        let kept = self.shared.store.kept_calls().await?.remove(&self.name);
        self.version = kept.as_ref().map_or(0, |kept| kept.version);
        self.progress = kept.map(|kept| Progress::read(&kept.text)).unwrap_or_default();
        self.reader.begin_again();
        self.reports.clear();
        (self.tries, self.due) = (0, now);
        if !self.progress.has_begun(self.settings.on) {
            let last = self.shared.store.reports_from(None, 1).await?.first().map(|last| last.key);
            let listed = match self.settings.on {
                EventKind::State | EventKind::Alert | EventKind::Attention => self.lists.present(now).await?,
                EventKind::Report | EventKind::Source => Arc::default(),
            };
            self.progress.begin(self.settings.on, last, &listed);
            if !self.keep().await? {
                return Ok(false);
            }
        }
        self.term = Some(term);
        self.shared.statuses.set(&self.name, &self.progress);
        Ok(true)
    }

    /// Returns what comes next.
    async fn head(&mut self, now: Timestamp) -> Result<Head, StoreError> {
        match self.settings.on {
            EventKind::Report => self.next_report(now).await,
            EventKind::State | EventKind::Alert | EventKind::Attention => self.next_listed(now).await,
            EventKind::Source => Ok(self.next_source(now)),
        }
    }

    async fn next_report(&mut self, now: Timestamp) -> Result<Head, StoreError> {
        if self.reports.is_empty() {
            let next = self.progress.next_report().unwrap_or(ReportKey::FIRST);
            self.reports = self.reader.reports(next).await?.into();
        }
        let mut passed = None;
        while let Some(report) = self.reports.front()
            && !self.reader.is_told(report).await?
        {
            passed = Some(Passed::Report(report.key));
            self.reports.pop_front();
        }
        let Some(report) = self.reports.front().cloned() else {
            return Ok(passed.map_or(Head::Nothing, Head::Passed));
        };
        let passed = Passed::Report(report.key);
        if report.content.created_at < now.before(self.settings.lasting) {
            return Ok(Head::Dropped(1, passed));
        }
        // It may be hidden by now.
        let Some(event) = self.reader.report(&self.name, report.key, &self.shared.photos).await? else {
            return Ok(Head::Passed(passed));
        };
        Ok(match self.composer.compose(&event, now) {
            Ok(request) => Head::Event(Box::new(event), request),
            Err(reason) => Head::Impossible(Box::new(event), reason),
        })
    }

    async fn next_listed(&mut self, now: Timestamp) -> Result<Head, StoreError> {
        let present = self.lists.present(now).await?;
        let told = self.progress.told.clone().unwrap_or_default();
        let listed: BTreeSet<_> = present.iter().map(|thing| thing.area).collect();
        let gone: Vec<_> =
            told.keys().filter(|area| !listed.contains(area)).map(|area| (*area, None)).collect();
        if !gone.is_empty() {
            return Ok(Head::Passed(Passed::Listed(gone)));
        }
        let is_new = |thing: &&Listed| told.get(&thing.area) != Some(&thing.mark);
        let mut new: Vec<_> = present.iter().filter(is_new).collect();
        if new.is_empty() {
            self.collecting = None;
            return Ok(Head::Nothing);
        }
        new.sort_by_key(|thing| (thing.at, thing.area));
        let old: Vec<_> =
            new.iter().take_while(|thing| thing.at < now.before(self.settings.lasting)).collect();
        if !old.is_empty() {
            let passed = Passed::Listed(old.iter().map(|thing| thing.told()).collect());
            return Ok(Head::Dropped(old.len() as u64, passed));
        }
        let collected = self.collecting.get_or_insert(now).after(COLLECTED);
        if self.settings.on == EventKind::State && now < collected {
            return Ok(Head::Nothing);
        }
        new.truncate(AREAS);
        while !new.is_empty() {
            let event = Event::listed(&self.name, self.settings.on, &new);
            match self.composer.compose(&event, now) {
                Ok(request) => return Ok(Head::Event(Box::new(event), request)),
                // Fewer areas may fit.
                Err(NotComposed::TooLarge) if new.len() > 1 => new.truncate(new.len() * 3 / 4),
                Err(reason) => return Ok(Head::Impossible(Box::new(event), reason)),
            }
        }
        Ok(Head::Nothing)
    }

    /// A source that is heard again before its silence was told is not told at all.
    fn next_source(&self, now: Timestamp) -> Head {
        let names = &self.settings.filter.source;
        let changed = self.shared.sources.reports().into_iter().find(|source| {
            let is_silent = source.status == SourceStatus::Silent;
            (names.is_empty() || names.contains(&source.name))
                && is_silent != self.progress.is_silent(&source.name)
        });
        let Some(source) = changed else { return Head::Nothing };
        let event = Event::source(&self.name, &source, self.progress.waiting().unwrap_or(now));
        if event.at < now.before(self.settings.lasting) {
            return Head::Dropped(1, event.passed);
        }
        match self.composer.compose(&event, now) {
            Ok(request) => Head::Event(Box::new(event), request),
            Err(reason) => Head::Impossible(Box::new(event), reason),
        }
    }

    /// Goes on as the outcome of a try says.
    async fn settle(&mut self, event: &Event, outcome: &Outcome) -> Result<(), StoreError> {
        let (call, id) = (self.name.clone(), &event.id);
        self.tries += 1;
        let next = next(self.tries, outcome);
        let counted = match next {
            Next::Done => CallOutcome::Sent,
            Next::Again(_) | Next::Off => CallOutcome::Failed,
            Next::Skip => CallOutcome::Skipped,
        };
        self.shared.metrics.called(&call, counted, 1);
        match next {
            Next::Done => {
                if self.progress.waiting().is_some() {
                    tracing::info!(call, "the receiver of a call is back");
                }
                self.progress.wait(None);
                self.pass(&event.passed).await
            }
            Next::Again(wait) => {
                self.due = self.due.max(self.shared.clock.now().after(wait));
                if self.tries == 1 {
                    tracing::warn!(call, id, ?outcome, "a call failed and is tried again");
                }
                self.keep_waiting(Some(event.at)).await
            }
            Next::Skip => {
                tracing::error!(call, id, ?outcome, "the receiver refuses an event, which is skipped");
                self.progress.wait(None);
                self.pass(&event.passed).await
            }
            Next::Off => {
                tracing::error!(
                    call,
                    "the receiver wants no more calls (410): off until siaga calls resume {call}"
                );
                self.progress.off = true;
                self.tries = 0;
                self.keep().await.map(drop)
            }
        }
    }

    /// Goes on after something.
    async fn pass(&mut self, passed: &Passed) -> Result<(), StoreError> {
        self.progress.pass(passed);
        self.tries = 0;
        if let Passed::Report(key) = passed {
            self.reports.pop_front_if(|report| report.key == *key);
        }
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
