use async_trait::async_trait;

use super::StoreError;
use crate::model::bodies::PartnerReport;

/// Result of [`FeedStore::receive_partner_report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// The report was stored.
    Created,
    /// A report with the same `post_id` was stored before; nothing changed.
    Existing,
}

/// Stores the reports that partners send.
#[async_trait]
pub trait FeedStore {
    /// Publishes a partner's report, unless a report with the same `post_id` was stored before. Of concurrent calls with the same
    /// `post_id`, exactly one stores its report.
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<ReceiveOutcome, StoreError>;
}
