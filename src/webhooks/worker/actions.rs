//! Chooses the next event of a webhook, and what to do about it.

use super::super::event::{Ack, Entry, Event};
use super::super::payload_template::PayloadError;
use super::pending_event::PendingEvent;
use super::{Action, COLLECT_FOR, MAX_AREAS, Worker};
use crate::config::EventKind;
use crate::model::{ReportKey, Timestamp};
use crate::stores::StoreError;

impl Worker {
    /// Returns the action for the next event in order, ignoring pending and deferred events.
    pub(super) async fn next_action(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        match self.settings.event {
            EventKind::Report => self.next_report(now).await,
            _ => self.next_entries(now).await,
        }
    }

    /// Returns the action for an event that was attempted before. Later changes become separate events.
    pub(super) async fn retry(&mut self, ack: &Ack, now: Timestamp) -> Result<Action, StoreError> {
        match ack {
            Ack::Report(key) => self.report(*key, now).await,
            Ack::Entries(marks) => {
                let present = self.lists.entries_at(now, self.checkpoint.waiting_since()).await?;
                let is_unsent =
                    |entry: &&Entry| marks.contains(&entry.ack()) && !self.checkpoint.contains(entry);
                Ok(self.entries(present.iter().filter(is_unsent).collect(), now))
            }
        }
    }

    /// While a report is pending, continues with the report after it. Acknowledges reports that the filters exclude.
    async fn next_report(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        let next_key = match &self.pending {
            Some(PendingEvent { ack: Ack::Report(key), .. }) => key.next(),
            _ => None,
        };
        let first = next_key.max(self.checkpoint.next_report()).unwrap_or(ReportKey::FIRST);
        match self.reports.next(first).await? {
            Some((key, true)) => self.report(key, now).await,
            Some((key, false)) => Ok(Action::Acknowledge(Ack::Report(key), 0)),
            None => Ok(Action::Wait),
        }
    }

    /// Returns the action for a report: sends it, unless it is too old or no longer public.
    async fn report(&self, key: ReportKey, now: Timestamp) -> Result<Action, StoreError> {
        Ok(match self.reports.event(&self.name, key).await? {
            Some(event) if event.at < now.saturating_sub(self.settings.max_age) => {
                Action::Acknowledge(event.ack, 1)
            }
            Some(event) => self.send(event, now),
            None => Action::Acknowledge(Ack::Report(key), 0),
        })
    }

    /// First removes the marks of entries that left the list. Collects new flood states for `COLLECT_FOR`, to send them together.
    async fn next_entries(&mut self, now: Timestamp) -> Result<Action, StoreError> {
        let present = self.lists.entries_at(now, self.checkpoint.waiting_since()).await?;
        let removals = self.checkpoint.removals(&present);
        if !removals.is_empty() {
            return Ok(Action::Acknowledge(Ack::Entries(removals), 0));
        }
        let is_pending = |entry: &Entry| {
            let ack = entry.ack();
            let mut attempted = self.pending.iter().chain(&self.deferred);
            attempted.any(|pending| matches!(&pending.ack, Ack::Entries(marks) if marks.contains(&ack)))
        };
        let is_new = |entry: &&Entry| !self.checkpoint.contains(entry) && !is_pending(entry);
        let new: Vec<_> = present.iter().filter(is_new).collect();
        if new.is_empty() {
            self.collecting_since = None;
            return Ok(Action::Wait);
        }
        let is_late = new.iter().any(|entry| entry.at < now.saturating_sub(self.settings.max_age));
        let monotonic = self.shared.clock.monotonic();
        let is_collected = monotonic >= *self.collecting_since.get_or_insert(monotonic) + COLLECT_FOR;
        if self.settings.event == EventKind::State && !is_collected && !is_late {
            return Ok(Action::Wait);
        }
        Ok(self.entries(new, now))
    }

    /// Drops the entries that are too old, if any; otherwise sends as many entries as fit into one request.
    fn entries(&self, mut entries: Vec<&Entry>, now: Timestamp) -> Action {
        entries.sort_by_key(|entry| entry.order());
        let oldest = now.saturating_sub(self.settings.max_age);
        let expired: Vec<_> =
            entries.iter().take_while(|entry| entry.at < oldest).map(|entry| entry.ack()).collect();
        if !expired.is_empty() || entries.is_empty() {
            let count = expired.len() as u64;
            return Action::Acknowledge(Ack::Entries(expired), count);
        }
        entries.truncate(if self.settings.event == EventKind::Source { 1 } else { MAX_AREAS });
        loop {
            match self.send(Event::entries(&self.name, self.settings.event, &entries), now) {
                Action::Skip(_, PayloadError::TooLarge) if entries.len() > 1 => {
                    entries.truncate(entries.len() * 3 / 4);
                }
                action => return action,
            }
        }
    }

    fn send(&self, event: Event, now: Timestamp) -> Action {
        match self.template.render(&event, now) {
            Ok(request) => Action::Send(Box::new(event), request),
            Err(reason) => Action::Skip(Box::new(event), reason),
        }
    }
}
