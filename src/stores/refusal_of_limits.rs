use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Decorator, SetFloodState, Store, StoreError};
use crate::model::{
    AreaLimit, BatchOutcome, BatchRequest, FloodChange, HiddenReports, HideWaiting, Moderation,
};

/// Refuses all requests with a limit, because the store inside does not [check limits](Store::enforces_limits).
#[derive(Debug)]
pub(crate) struct RefusalOfLimits(pub(crate) Arc<dyn Store>);

fn require_none(limit: &AreaLimit) -> Result<(), StoreError> {
    let refused = || StoreError::Refused {
        what:
            "the store does not check the areas of credentials, so only credentials for all areas may write"
                .to_owned(),
    };
    limit.is_everywhere().then_some(()).ok_or_else(refused)
}

impl fmt::Display for RefusalOfLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl Decorator for RefusalOfLimits {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn set_flood_state(&self, change: SetFloodState) -> Result<FloodChange, StoreError> {
        require_none(&change.limit)?;
        self.0.set_flood_state(change).await
    }

    async fn change_floods(&self, request: BatchRequest) -> Result<BatchOutcome, StoreError> {
        require_none(&request.limit)?;
        self.0.change_floods(request).await
    }

    async fn moderate(&self, moderation: &Moderation) -> Result<bool, StoreError> {
        require_none(&moderation.limit)?;
        self.0.moderate(moderation).await
    }

    async fn hide_waiting(&self, request: &HideWaiting) -> Result<HiddenReports, StoreError> {
        require_none(&request.limit)?;
        self.0.hide_waiting(request).await
    }
}
