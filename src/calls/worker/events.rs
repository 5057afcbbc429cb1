//! Which event a call sends next, and what becomes of one that was tried before.

use std::collections::BTreeSet;

use super::super::composer::NotComposed;
use super::super::event::{Event, Passed};
use super::super::lists::Listed;
use super::{AREAS, COLLECTED, Head, Worker};
use crate::config::EventKind;
use crate::model::{ReportKey, SourceStatus, Timestamp};
use crate::sources::SourceReport;
use crate::stores::StoreError;

impl Worker {
    /// Returns the next event in order, without those on trial.
    pub(super) async fn head(&mut self, now: Timestamp) -> Result<Head, StoreError> {
        match self.settings.on {
            EventKind::Report => self.next_report(now).await,
            EventKind::State | EventKind::Alert | EventKind::Attention => self.next_listed(now).await,
            EventKind::Source => Ok(self.next_source(now)),
        }
    }

    /// Returns what becomes of an event that was tried. What happened since is an event of its own.
    pub(super) async fn again(&mut self, event: &Passed, now: Timestamp) -> Result<Head, StoreError> {
        match event {
            Passed::Report(key) => Ok(self.report(*key, now).await?.unwrap_or(Head::Over)),
            Passed::Listed(marks) => {
                let present = self.lists.present(now).await?;
                let told = self.progress.told.as_ref();
                let is_left = |of: &&Listed| {
                    marks.contains(&of.told()) && told.is_none_or(|told| told.get(&of.area) != Some(&of.mark))
                };
                let left: Vec<_> = present.iter().filter(is_left).collect();
                Ok(if left.is_empty() { Head::Over } else { self.listed(left, now) })
            }
            Passed::Source(name, is_silent) => {
                let sources = self.shared.sources.reports();
                let source = sources.iter().find(|source| source.name == *name);
                let source = source.filter(|of| (of.status == SourceStatus::Silent) == *is_silent);
                Ok(source.map_or(Head::Over, |source| self.source(source, now)))
            }
        }
    }

    /// Returns whether an entry of a list, or a source, belongs to an event that was tried.
    fn is_on_trial(&self, is_it: impl Fn(&Passed) -> bool) -> bool {
        self.trial.iter().chain(&self.aside).any(|trial| is_it(&trial.event))
    }

    async fn next_report(&mut self, now: Timestamp) -> Result<Head, StoreError> {
        if self.reports.is_empty() {
            let after_trial = self.trial.as_ref().and_then(|trial| match trial.event {
                Passed::Report(key) => key.next(),
                _ => None,
            });
            let next = after_trial.max(self.progress.next_report()).unwrap_or(ReportKey::FIRST);
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
        // It may be hidden by now.
        let head = self.report(report.key, now).await?;
        Ok(head.unwrap_or(Head::Passed(Passed::Report(report.key))))
    }

    /// Returns what becomes of a report; `None` if readers do not see it any more.
    async fn report(&self, key: ReportKey, now: Timestamp) -> Result<Option<Head>, StoreError> {
        let event = self.reader.report(&self.name, key, &self.shared.photos).await?;
        Ok(event.map(|event| {
            if event.at < now.before(self.settings.lasting) {
                return Head::Dropped(1, event.passed);
            }
            self.composed(event, now)
        }))
    }

    fn composed(&self, event: Event, now: Timestamp) -> Head {
        match self.composer.compose(&event, now) {
            Ok(request) => Head::Event(Box::new(event), request),
            Err(reason) => Head::Impossible(Box::new(event), reason),
        }
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
        let is_on_trial = |thing: &Listed| {
            self.is_on_trial(|event| matches!(event, Passed::Listed(marks) if marks.contains(&thing.told())))
        };
        let is_new = |thing: &&Listed| told.get(&thing.area) != Some(&thing.mark) && !is_on_trial(thing);
        let new: Vec<_> = present.iter().filter(is_new).collect();
        if new.is_empty() {
            self.collecting = None;
            return Ok(Head::Nothing);
        }
        let oldest = new.iter().map(|thing| thing.at).min();
        let is_late = oldest.is_some_and(|at| at < now.before(self.settings.lasting));
        let collected = self.collecting.get_or_insert(now).after(COLLECTED);
        if self.settings.on == EventKind::State && now < collected && !is_late {
            return Ok(Head::Nothing);
        }
        Ok(self.listed(new, now))
    }

    /// Returns what becomes of entries of a list, of which there is at least one.
    fn listed(&self, mut things: Vec<&Listed>, now: Timestamp) -> Head {
        things.sort_by_key(|thing| (thing.at, thing.area));
        let old: Vec<_> =
            things.iter().take_while(|thing| thing.at < now.before(self.settings.lasting)).collect();
        if !old.is_empty() {
            let passed = Passed::Listed(old.iter().map(|thing| thing.told()).collect());
            return Head::Dropped(old.len() as u64, passed);
        }
        things.truncate(AREAS);
        loop {
            let event = Event::listed(&self.name, self.settings.on, &things);
            match self.composer.compose(&event, now) {
                // Fewer areas may fit.
                Err(NotComposed::TooLarge) if things.len() > 1 => things.truncate(things.len() * 3 / 4),
                Ok(request) => return Head::Event(Box::new(event), request),
                Err(reason) => return Head::Impossible(Box::new(event), reason),
            }
        }
    }

    /// A source that is heard again before its silence was told is not told at all.
    fn next_source(&self, now: Timestamp) -> Head {
        let names = &self.settings.filter.source;
        let changed = self.shared.sources.reports().into_iter().find(|source| {
            let is_silent = source.status == SourceStatus::Silent;
            (names.is_empty() || names.contains(&source.name))
                && is_silent != self.progress.is_silent(&source.name)
                && !self.is_on_trial(|event| *event == Passed::Source(source.name.clone(), is_silent))
        });
        changed.map_or(Head::Nothing, |source| self.source(&source, now))
    }

    fn source(&self, source: &SourceReport, now: Timestamp) -> Head {
        let event = Event::source(&self.name, source, self.progress.waiting().unwrap_or(now));
        if event.at < now.before(self.settings.lasting) {
            return Head::Dropped(1, event.passed);
        }
        self.composed(event, now)
    }
}
