use async_trait::async_trait;

use super::StoreError;
use crate::model::bodies::PartnerReport;

/// The result of storing a report that may have come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It was stored.
    Created,
    /// It had come before; nothing was stored.
    Existing,
}

/// Feeds from partners.
#[async_trait]
pub trait FeedStore {
    /// Publishes a partner's report, unless a report with its `post_id` is stored already. If several calls come with
    /// one `post_id`, exactly one stores its report.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<Received, StoreError>;
}
