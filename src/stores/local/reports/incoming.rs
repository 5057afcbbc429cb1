//! Receives the reports of cards and of partners.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::{LocalStore, Row, Visibility};
use crate::model::bodies::PartnerReport;
use crate::model::{
    Card, CardHolder, CardId, PartnerPost, Report, ReportContent, Timestamp, Waiting, WaitingOrigin,
};
use crate::stores::cards::random_card_id;
use crate::stores::{CardStore, FeedStore, ReceiveOutcome, StoreError};

impl LocalStore {
    /// Stores the report of a card. With `review_origin`, the report is hidden and waits for review.
    async fn receive(
        &self,
        id: &CardId,
        content: ReportContent,
        review_origin: Option<WaitingOrigin>,
    ) -> Result<Arc<Report>, StoreError> {
        let id = id.clone();
        let write = self.write(move |state, rows, now| {
            let card = Card::clone(state.reports.value.card(&id)?);
            if card.report.is_some() {
                return Err(StoreError::card_used(&id));
            }
            let tags = state.places.value.locator().locate(content.location);
            let reports = state.reports.get_mut();
            let report = reports.publish(content, tags)?;
            let card = Arc::new(Card { report: Some(report.key), ..card });
            reports.cards.put(Arc::clone(&card));
            rows.add(|| [Row::Report(Arc::clone(&report)), Row::Card(card)]);
            if let Some(origin) = review_origin {
                let waiting = Waiting { origin, since: now };
                reports.hide(report.key);
                reports.waiting.insert(report.key, waiting);
                rows.add(|| [Row::Visibility(report.key, Visibility::Waiting(waiting))]);
            }
            Ok(report)
        });
        write.await
    }
}

#[async_trait]
impl CardStore for LocalStore {
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        loop {
            match self.create_card_as(&random_card_id()?, holder.clone()).await {
                Err(StoreError::Conflict { .. }) => {}
                result => return result,
            }
        }
    }

    async fn create_card_as(&self, id: &CardId, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        let id = id.clone();
        let write = self.write(move |state, rows, now| {
            // The revision does not grow, because a new card does not change the reports.
            let cards = &mut state.reports.get_mut_untracked().cards;
            if cards.find(&id).is_some() {
                return Err(StoreError::card_exists(&id));
            }
            let pkey = cards.next_number();
            let card = Arc::new(Card { pkey, id, holder, report: None, created_at: Some(now) });
            cards.put(Arc::clone(&card));
            rows.add(|| [Row::Card(Arc::clone(&card))]);
            Ok(card)
        });
        write.await
    }

    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError> {
        self.state().reports.value.card(id).cloned()
    }

    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError> {
        self.receive(id, content, None).await
    }

    async fn receive_waiting_report(
        &self,
        id: &CardId,
        content: ReportContent,
        origin: WaitingOrigin,
    ) -> Result<Arc<Report>, StoreError> {
        self.receive(id, content, Some(origin)).await
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError> {
        let (id, image) = (id.clone(), image.to_owned());
        self.write(move |state, rows, now| Ok(state.show_image(&id, &image, rows, now))).await
    }

    async fn erase_unused_cards(&self, created: Range<Timestamp>, most: u32) -> Result<u64, StoreError> {
        // Servers poll this method, so it must not write if there is no card to erase.
        if self.state().reports.value.cards.unused(created.clone()).next().is_none() {
            return Ok(0);
        }
        let write = self.write(move |state, rows, _| {
            let unused = state.reports.value.cards.unused(created);
            let erased: Vec<CardId> = unused.take(most as usize).cloned().collect();
            for card in &erased {
                // The revision does not grow, because readers of reports do not see cards.
                state.reports.get_mut_untracked().cards.remove(card);
                state.service_mut().uploads.remove(card);
            }
            let count = erased.len() as u64;
            rows.add(|| erased.into_iter().map(Row::RemovedCard));
            Ok(count)
        });
        write.await
    }
}

#[async_trait]
impl FeedStore for LocalStore {
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<ReceiveOutcome, StoreError> {
        let write = self.write(move |state, rows, _| {
            let PartnerReport { post_id, content } = report;
            if state.reports.value.partner_posts.contains(&post_id) {
                return Ok(ReceiveOutcome::Existing);
            }
            let tags = state.places.value.locator().locate(content.location);
            let reports = state.reports.get_mut();
            reports.partner_posts.insert(post_id);
            let report = reports.publish(content, tags)?;
            let post = PartnerPost { post_id, report: report.key };
            rows.add(|| [Row::PartnerPost(post), Row::Report(report)]);
            Ok(ReceiveOutcome::Created)
        });
        write.await
    }
}
