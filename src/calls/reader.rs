use std::collections::BTreeSet;
use std::sync::Arc;

use super::event::Event;
use crate::config::CallSettings;
use crate::model::{AreaSelector, CARD_SOURCE, Card, CardId, Report, ReportKey};
use crate::stores::{Resource, Revision, Store, StoreError};

/// How many reports are read at once.
const PAGE: u32 = 100;
/// Reads the reports that a call has to tell, in an order that nothing can come before: it goes on to a key only when every
/// transaction that could still write a lower one has ended.
#[derive(Debug)]
pub(super) struct Reader {
    store: Arc<dyn Store>,
    settings: CallSettings,
    /// The revision at which there was nothing to tell.
    nothing_at: Option<Revision>,
    reports: Option<Settling>,
}

/// A report that was visible at a moment, and the transactions that were open then.
#[derive(Debug)]
struct Settling {
    last: ReportKey,
    open: BTreeSet<String>,
}

impl Settling {
    /// Returns whether all the transactions have ended.
    async fn is_over(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        if self.open.is_empty() {
            return Ok(true);
        }
        let is_over = store.open_writes().await?.is_disjoint(&self.open);
        if is_over {
            self.open.clear();
        }
        Ok(is_over)
    }
}

impl Reader {
    pub(super) fn new(store: Arc<dyn Store>, settings: CallSettings) -> Self {
        Self { store, settings, nothing_at: None, reports: None }
    }

    /// Forgets what was read, because the call goes on at another place.
    pub(super) fn begin_again(&mut self) {
        (self.nothing_at, self.reports) = (None, None);
    }

    /// Returns reports from a key on, in the order of their keys; none if there are none yet.
    pub(super) async fn reports(&mut self, next: ReportKey) -> Result<Vec<Arc<Report>>, StoreError> {
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
            self.reports = Some(Settling { last, open });
        }
        let Some(settling) = &mut self.reports else { return Ok(Vec::new()) };
        if !settling.is_over(&*self.store).await? {
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

    fn cities(&self) -> impl Iterator<Item = AreaSelector> {
        let codes = self.settings.filter.city.iter();
        codes.map(|code| AreaSelector { city: Some(code.clone()), region: None })
    }
}
