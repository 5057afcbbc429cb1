use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::event::{AreaChange, Event, Passed};
use super::progress::Moment;
use crate::config::CallSettings;
use crate::model::{
    AreaSelector, AreaSet, CARD_SOURCE, Card, CardId, Report, ReportKey, StateChange, Timestamp,
};
use crate::stores::{EntryQuery, Resource, Revision, Store, StoreError};

/// How many reports are read at once.
const PAGE: u32 = 100;
/// How many areas one call has at most.
pub(super) const AREAS: usize = 100;
/// How long changes are collected for one call. [`Store::revision`] includes all changes that are at least as old.
const COLLECTED: Duration = Duration::from_secs(1);

/// Reads what a call has to tell, in an order that nothing can come before: it goes on to a key or a time only when every
/// transaction that could still write a lower one has ended.
#[derive(Debug)]
pub(super) struct Reader {
    store: Arc<dyn Store>,
    settings: CallSettings,
    /// The revision at which there was nothing to tell.
    nothing_at: Option<Revision>,
    reports: Option<Settling<ReportKey>>,
    changes: Option<Settling<Timestamp>>,
    /// A time up to which all changes are visible.
    settled: Option<Timestamp>,
}

/// Something that was visible at a moment, and the transactions that were open then.
#[derive(Debug)]
struct Settling<T> {
    last: T,
    open: BTreeSet<String>,
    since: Timestamp,
}

impl<T> Settling<T> {
    /// Returns whether all the transactions have ended.
    async fn is_over(&mut self, store: &dyn Store, now: Timestamp) -> Result<bool, StoreError> {
        if self.open.is_empty() {
            return Ok(true);
        }
        let is_over = store.open_writes().await?.is_disjoint(&self.open);
        if is_over {
            self.open.clear();
            self.since = now;
        }
        Ok(is_over)
    }
}

/// Changes of areas that wait, by time and area.
#[derive(Debug)]
pub(super) struct Waiting {
    areas: Arc<AreaSet>,
    /// Each with the position of its area, if it is told.
    changes: Vec<(u64, StateChange, Option<usize>)>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns how many of the changes that are told were made before a time, and what is passed with them.
    pub(super) fn before(&self, time: Timestamp) -> (u64, Passed) {
        let old = || self.changes.iter().take_while(|(_, change, _)| change.at < time);
        let told = old().filter(|(.., position)| position.is_some()).count() as u64;
        (told, Passed::Changes(old().map(|(area, change, _)| (change.at, *area)).collect()))
    }

    /// Returns the event for the first changes, of at most so many areas; `None` if none of them is told. Returns also what is
    /// passed with it.
    pub(super) fn event(&self, call: &str, most: usize) -> (Option<Event>, Passed) {
        let mut told = Vec::new();
        let mut passed = Vec::new();
        for (area, change, position) in &self.changes {
            if told.len() == most.min(AREAS) {
                break;
            }
            told.extend(position.map(|at| AreaChange { area: &self.areas[at], change: *change }));
            passed.push((change.at, *area));
        }
        let passed = Passed::Changes(passed);
        let event =
            (!told.is_empty()).then(|| Event { passed: passed.clone(), ..Event::states(call, &told) });
        (event, passed)
    }
}

impl Reader {
    pub(super) fn new(store: Arc<dyn Store>, settings: CallSettings) -> Self {
        Self { store, settings, nothing_at: None, reports: None, changes: None, settled: None }
    }

    /// Forgets what was read, because the call goes on at another place.
    pub(super) fn begin_again(&mut self) {
        (self.nothing_at, self.reports, self.changes, self.settled) = (None, None, None, None);
    }

    /// Returns reports from a key on, in the order of their keys; none if there are none yet.
    pub(super) async fn reports(
        &mut self,
        next: ReportKey,
        now: Timestamp,
    ) -> Result<Vec<Arc<Report>>, StoreError> {
        if self.reports.is_none() {
            let revision = self.store.revision(Resource::Reports).await?;
            if self.nothing_at == Some(revision) {
                return Ok(Vec::new());
            }
            let Some(last) = self.store.reports_from(Some(next), PAGE).await?.last().map(|last| last.key)
            else {
                self.nothing_at = Some(revision);
                return Ok(Vec::new());
            };
            let open = self.store.open_writes().await?;
            self.reports = Some(Settling { last, open, since: now });
        }
        let Some(settling) = &mut self.reports else { return Ok(Vec::new()) };
        if !settling.is_over(&*self.store, now).await? {
            return Ok(Vec::new());
        }
        let last = settling.last;
        self.reports = None;
        let mut found = self.store.reports_from(Some(next), PAGE).await?;
        found.retain(|report| report.key <= last);
        Ok(found)
    }

    /// Returns whether a report is told.
    pub(super) async fn is_told(&self, report: &Report) -> Result<bool, StoreError> {
        let CallSettings { filter, training, .. } = &self.settings;
        let content = &report.content;
        if content.is_training && !training
            || !filter.source.is_empty() && !filter.source.iter().any(|source| **source == *content.source)
        {
            return Ok(false);
        }
        if filter.city.is_empty() {
            return Ok(true);
        }
        let places = self.store.places().await?.value;
        Ok(self.cities().any(|city| places.selects(&city, &report.tags)))
    }

    /// Returns the event of a report as readers see it now; `None` if they do not see it any more.
    pub(super) async fn report(
        &self,
        call: &str,
        key: ReportKey,
        photos: &Arc<str>,
    ) -> Result<Option<Event>, StoreError> {
        let report = match self.store.report(key).await {
            Ok(found) => found.value,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let card = if self.settings.personal { self.card(&report).await? } else { None };
        Ok(Some(Event::report(call, &report, photos, card.as_deref())))
    }

    async fn card(&self, report: &Report) -> Result<Option<Arc<Card>>, StoreError> {
        let id = report.content.url.as_deref().filter(|_| &*report.content.source == CARD_SOURCE);
        let Some(id) = id.and_then(|id| id.parse::<CardId>().ok()) else { return Ok(None) };
        match self.store.card(&id).await {
            Ok(card) => Ok(Some(card)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the newest change of each area after a moment; `None` if there are none yet.
    pub(super) async fn changes(
        &mut self,
        passed: &Moment,
        now: Timestamp,
    ) -> Result<Option<Waiting>, StoreError> {
        if let Some(until) = self.settled {
            let waiting = self.read_changes(passed, Some(until)).await?;
            if waiting.as_ref().is_some_and(|waiting| !waiting.changes.is_empty()) {
                return Ok(waiting);
            }
            self.settled = None;
        }
        if self.changes.is_none() {
            let revision = self.store.revision(Resource::Floods).await?;
            if self.nothing_at == Some(revision) {
                return Ok(None);
            }
            let found = self.read_changes(passed, None).await?;
            let Some(last) = found.as_ref().and_then(|found| found.changes.last()) else {
                self.nothing_at = found.map(|_| revision);
                return Ok(None);
            };
            let last = last.1.at;
            let open = self.store.open_writes().await?;
            self.changes = Some(Settling { last, open, since: now });
        }
        let Some(settling) = &mut self.changes else { return Ok(None) };
        if !settling.is_over(&*self.store, now).await? || now < settling.since.after(COLLECTED) {
            return Ok(None);
        }
        let last = settling.last;
        (self.changes, self.settled) = (None, Some(last));
        self.read_changes(passed, Some(last)).await
    }

    /// Reads the changes after a moment, and up to another one. An area that has changed since then is left out. Returns `None`
    /// if a replica that is behind has responded.
    async fn read_changes(
        &self,
        passed: &Moment,
        until: Option<Timestamp>,
    ) -> Result<Option<Waiting>, StoreError> {
        let revision = self.store.revision(Resource::Floods).await?;
        let query = EntryQuery { area: None, from: passed.at(), until: Timestamp::LAST };
        let found = self.store.flood_entries(&query).await?;
        if found.revision < revision {
            return Ok(None);
        }
        let areas = Arc::clone(self.store.places().await?.value.areas());
        let mut changes = Vec::new();
        for (area, entries) in found.value {
            let Some(change) = entries.last().map(|entry| entry.change()) else { continue };
            let number = area.number();
            if passed.has_passed(change.at, number) || until.is_some_and(|until| change.at > until) {
                continue;
            }
            let position = areas.position(area).filter(|&at| self.tells(&areas, at, change));
            changes.push((number, change, position));
        }
        changes.sort_by_key(|(area, change, _)| (change.at, *area));
        Ok(Some(Waiting { areas, changes }))
    }

    /// Returns whether the change of an area is told.
    fn tells(&self, areas: &AreaSet, position: usize, change: StateChange) -> bool {
        let filter = &self.settings.filter;
        let high_enough =
            filter.minimum_state.is_none_or(|minimum| change.state.is_some_and(|state| state >= minimum.0));
        high_enough && (filter.city.is_empty() || self.cities().any(|city| city.matches(&areas[position])))
    }

    fn cities(&self) -> impl Iterator<Item = AreaSelector> {
        let codes = self.settings.filter.city.iter();
        codes.map(|code| AreaSelector { city: Some(code.clone()), region: None })
    }
}
