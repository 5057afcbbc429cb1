//! Reports, and the cards and feeds that they come from.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;

use super::FileStore;
use super::tables::Row;
use crate::model::intake::PartnerReport;
use crate::model::{
    Card, CardHolder, CardId, PartnerPost, Report, ReportContent, ReportKey, ReportLayer, SeriesPoint,
    Timestamp,
};
use crate::stores::memory::MemoryStore;
use crate::stores::{
    CardStore, FeedStore, Received, ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary, StoreError,
    Versioned,
};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ReportStore for FileStore {
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        self.current().reports(query).await
    }

    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        self.current().count_reports(query, most).await
    }

    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError> {
        self.current().report(key).await
    }

    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        self.current().report_series(query).await
    }

    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        self.current().report_summary(query).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl CardStore for FileStore {
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        let change = self.journal.write(|next, rows| {
            let creating = async move {
                let card = next.create_card(holder).await?;
                rows.push(Row::Card(Arc::clone(&card)));
                Ok(card)
            };
            creating.boxed()
        });
        change.await
    }

    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError> {
        self.current().card(id).await
    }

    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError> {
        let id = id.clone();
        let change = self.journal.write(|next, rows| {
            let receiving = async move {
                let report = next.receive_card_report(&id, content).await?;
                rows.push(Row::Report(Arc::clone(&report)));
                rows.push(Row::Card(next.card(&id).await?));
                Ok(report)
            };
            receiving.boxed()
        });
        change.await
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError> {
        let (id, image) = (id.clone(), image.to_owned());
        let change = self.journal.write(|next, rows| {
            let showing = async move {
                let shown = next.show_card_image(&id, &image).await?;
                if shown {
                    rows.extend(report_of(next, &id));
                }
                Ok(shown)
            };
            showing.boxed()
        });
        change.await
    }

    async fn erase_unused_cards(&self, made: Range<Timestamp>, most: u32) -> Result<u64, StoreError> {
        let change = self.journal.write(move |next, rows| {
            let erased = next.erased_cards(made, most).map(|cards| {
                let count = cards.len() as u64;
                rows.extend(cards.into_iter().map(Row::NoCard));
                count
            });
            async { erased }.boxed()
        });
        change.await
    }
}

/// Returns the rows of a card's report and of the move of its photo.
pub(super) fn report_of(store: &MemoryStore, card: &CardId) -> Vec<Row> {
    let Some((report, pending)) = store.report_of(card) else { return Vec::new() };
    let photo = report.content.image_url.clone();
    let pending = photo.zip(pending).map(|(photo, pending)| Row::PhotoMove(photo, Some(pending)));
    [Row::Report(report)].into_iter().chain(pending).collect()
}

#[async_trait]
impl FeedStore for FileStore {
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<Received, StoreError> {
        let change = self.journal.write(|next, rows| {
            let receiving = async move {
                let post_id = report.post_id;
                let received = next.receive_partner_report(report).await?;
                // The new report has the highest key.
                if received == Received::Created
                    && let Some(report) = next.last_report()
                {
                    rows.push(Row::PartnerPost(PartnerPost { post_id, report: report.key }));
                    rows.push(Row::Report(report));
                }
                Ok(received)
            };
            receiving.boxed()
        });
        change.await
    }
}
