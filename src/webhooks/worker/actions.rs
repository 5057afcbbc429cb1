//! What a call does next, and what becomes of an event that was tried before.

use super::super::event::{Ack, Entry, Event};
use super::super::payload_template::PayloadError;
use super::trials::Trial;
use super::{AREAS, Action, COLLECTED, Worker};
use crate::config::EventKind;
use crate::model::{ReportKey, Timestamp};
use crate::stores::StoreError;

impl Worker {
    /// Returns what to do about the next event in order, without those on trial.
    pub(super) async fn next_action(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        match self.settings.on {
            EventKind::Report => self.next_report(now).await,
            _ => self.next_entries(now).await,
        }
    }

    /// Returns what to do about an event that was tried. What has happened since is an event of its own.
    pub(super) async fn retry(&mut self, ack: &Ack, now: Timestamp) -> Result<Action, StoreError> {
        match ack {
            Ack::Report(key) => self.report(*key, now).await,
            Ack::Entries(marks) => {
                let present = self.lists.present(now, self.checkpoint.waiting()).await?;
                let is_left = |entry: &&Entry| marks.contains(&entry.ack()) && !self.checkpoint.has(entry);
                Ok(self.entries(present.iter().filter(is_left).collect(), now))
            }
        }
    }

    async fn next_report(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        let after_trial = match &self.trial {
            Some(Trial { event: Ack::Report(key), .. }) => key.next(),
            _ => None,
        };
        let first = after_trial.max(self.checkpoint.next_report()).unwrap_or(ReportKey::FIRST);
        match self.reports.next(first).await? {
            Some((key, true)) => self.report(key, now).await,
            Some((key, false)) => Ok(Action::Acknowledge(Ack::Report(key), 0)),
            None => Ok(Action::Wait),
        }
    }

    async fn report(&self, key: ReportKey, now: Timestamp) -> Result<Action, StoreError> {
        Ok(match self.reports.event(&self.name, key).await? {
            Some(event) if event.at < now.before(self.settings.lasting) => Action::Acknowledge(event.ack, 1),
            Some(event) => self.send(event, now),
            // Readers do not see it any more.
            None => Action::Acknowledge(Ack::Report(key), 0),
        })
    }

    async fn next_entries(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        let present = self.lists.present(now, self.checkpoint.waiting()).await?;
        let gone = self.checkpoint.without(&present);
        if !gone.is_empty() {
            return Ok(Action::Acknowledge(Ack::Entries(gone), 0));
        }
        let is_on_trial = |entry: &Entry| {
            let ack = entry.ack();
            let mut trials = self.trial.iter().chain(&self.aside);
            trials.any(|trial| matches!(&trial.event, Ack::Entries(marks) if marks.contains(&ack)))
        };
        let is_new = |entry: &&Entry| !self.checkpoint.has(entry) && !is_on_trial(entry);
        let new: Vec<_> = present.iter().filter(is_new).collect();
        if new.is_empty() {
            self.collecting = None;
            return Ok(Action::Wait);
        }
        let is_late = new.iter().any(|entry| entry.at < now.before(self.settings.lasting));
        let collected = self.collecting.get_or_insert(now).after(COLLECTED);
        if self.settings.on == EventKind::State && now < collected && !is_late {
            return Ok(Action::Wait);
        }
        Ok(self.entries(new, now))
    }

    /// Returns what to do about entries of a list: drops those that are too old, then sends as many as fit.
    fn entries(&self, mut entries: Vec<&Entry>, now: Timestamp) -> Action {
        entries.sort_by_key(|entry| entry.order());
        let oldest = now.before(self.settings.lasting);
        let old: Vec<_> =
            entries.iter().take_while(|entry| entry.at < oldest).map(|entry| entry.ack()).collect();
        if !old.is_empty() || entries.is_empty() {
            let count = old.len() as u64;
            return Action::Acknowledge(Ack::Entries(old), count);
        }
        entries.truncate(if self.settings.on == EventKind::Source { 1 } else { AREAS });
        loop {
            match self.send(Event::entries(&self.name, self.settings.on, &entries), now) {
                // Fewer may fit.
                Action::Skip(_, PayloadError::TooLarge) if entries.len() > 1 => {
                    entries.truncate(entries.len() * 3 / 4);
                }
                action => return action,
            }
        }
    }

    fn send(&self, event: Event, now: Timestamp) -> Action {
        match self.composer.compose(&event, now) {
            Ok(request) => Action::Send(Box::new(event), request),
            Err(reason) => Action::Skip(Box::new(event), reason),
        }
    }
}
