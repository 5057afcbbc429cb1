use std::collections::BTreeSet;

use super::Shared;
use super::event::Event;
use crate::config::WebhookSettings;
use crate::model::{CARD_SOURCE, CardId, Report, ReportKey};
use crate::stores::{Resource, Revision, StoreError};

const PAGE: u32 = 100;

/// Reads pending reports in the order of their keys. Waits for transactions that could still produce a lower key.
#[derive(Debug)]
pub(super) struct ReportReader {
    shared: Shared,
    settings: WebhookSettings,
    end: Option<Revision>,
    /// Upper bound of the next page, and the transactions that could still produce a key below it.
    barrier: Option<(ReportKey, BTreeSet<String>)>,
    /// The keys that were read but not acknowledged yet, each with whether the webhook sends the report.
    page: Vec<(ReportKey, bool)>,
}

impl ReportReader {
    pub(super) fn new(shared: Shared, settings: WebhookSettings) -> Self {
        Self { shared, settings, end: None, barrier: None, page: Vec::new() }
    }

    pub(super) fn reset(&mut self) {
        (self.end, self.barrier, self.page) = (None, None, Vec::new());
    }

    /// Returns the next report to send, and `true`; if there is none, the last report of the page, and `false`.
    pub(super) async fn next(&mut self, first: ReportKey) -> Result<Option<(ReportKey, bool)>, StoreError> {
        self.page.retain(|(key, _)| *key >= first);
        if self.page.is_empty() {
            self.page = self.read(first).await?;
        }
        Ok(self.page.iter().find(|(_, is_sent)| *is_sent).or(self.page.last()).copied())
    }

    /// Returns a page only when all writes that were open at its first read have ended, because they may add an earlier key.
    async fn read(&mut self, first: ReportKey) -> Result<Vec<(ReportKey, bool)>, StoreError> {
        let store = &self.shared.store;
        let (last, open) = if let Some(barrier) = self.barrier.take() {
            barrier
        } else {
            let revision = store.revision(Resource::Reports).await?;
            if self.end == Some(revision) {
                return Ok(Vec::new());
            }
            let page = store.reports_from(Some(first), PAGE).await?;
            let Some(last) = page.last() else {
                self.end = Some(revision);
                return Ok(Vec::new());
            };
            (last.key, store.open_writes().await?)
        };
        if !open.is_empty() && !store.open_writes().await?.is_disjoint(&open) {
            self.barrier = Some((last, open));
            return Ok(Vec::new());
        }
        let mut page = Vec::new();
        for report in store.reports_from(Some(first), PAGE).await? {
            if report.key <= last {
                page.push((report.key, self.is_sent(&report).await?));
            }
        }
        Ok(page)
    }

    /// Whether the report passes the filters of the webhook.
    async fn is_sent(&self, report: &Report) -> Result<bool, StoreError> {
        let WebhookSettings { filter, training, .. } = &self.settings;
        let content = &report.content;
        if content.is_training && !training
            || !filter.source.is_empty() && !filter.source.iter().any(|source| **source == *content.source)
        {
            return Ok(false);
        }
        if filter.city.is_empty() {
            return Ok(true);
        }
        let places = self.shared.store.places().await?.value;
        Ok(filter.selects(|city| places.selects(city, &report.tags)))
    }

    /// Returns the event of a report in its current public form; `None` if the report is no longer public.
    pub(super) async fn event(&self, webhook: &str, key: ReportKey) -> Result<Option<Event>, StoreError> {
        let Shared { store, photos, .. } = &self.shared;
        let Some(report) = optional(store.report(key).await)?.map(|found| found.value) else {
            return Ok(None);
        };
        let from_card = self.settings.personal && &*report.content.source == CARD_SOURCE;
        let card = report.content.url.as_deref().filter(|_| from_card);
        let card = match card.and_then(|id| id.parse::<CardId>().ok()) {
            Some(id) => optional(store.card(&id).await)?,
            None => None,
        };
        Ok(Some(Event::report(webhook, &report, photos, card.as_deref())))
    }
}

fn optional<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Err(StoreError::NotFound { .. }) => Ok(None),
        other => other.map(Some),
    }
}
