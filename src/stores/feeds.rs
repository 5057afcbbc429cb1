use async_trait::async_trait;

use super::StoreError;
use crate::model::intake::PartnerReport;

/// What became of a report that may have come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It was stored.
    Created,
    /// It had come before, and nothing was stored.
    Existing,
}

/// Feeds of partners.
#[async_trait]
pub trait FeedStore {
    /// Publishes a partner's report unless one with its `post_id` is stored. Of any number of calls with one
    /// `post_id` exactly one stores its report.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<Received, StoreError>;
}
