use async_trait::async_trait;

use super::StoreError;
use crate::model::bodies::PartnerReport;

/// Result of [`FeedStore::receive_partner_report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// The report was stored.
    Created,
    /// A report with its `post_id` was stored before; nothing changed.
    Existing,
}

/// Feeds from partners.
#[async_trait]
pub trait FeedStore {
    /// Publishes a partner's report, unless a report with its `post_id` is stored already. If calls with one `post_id` are
    /// concurrent, exactly one stores its report.
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<ReceiveOutcome, StoreError>;
}
