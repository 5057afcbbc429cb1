use std::sync::{Arc, Mutex, PoisonError};

use rocket::Request;

use crate::auth::OwnQuota;
use crate::http::quotas::{Client, QuotaState, Quotas, TooMany};

/// The client and the quota against which a request counts. Clones share the latest state of the quota.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    quotas: Arc<Quotas>,
    client: Client,
    quota: Option<OwnQuota>,
    /// The client's quota after the latest count, for the rate-limit headers.
    quota_state: Arc<Mutex<Option<QuotaState>>>,
}

struct CacheHit(bool);

impl Account {
    pub(super) fn new(quotas: &Arc<Quotas>, client: Client, quota: Option<OwnQuota>) -> Self {
        Self { quotas: Arc::clone(quotas), client, quota, quota_state: Arc::default() }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn count(&self) -> Result<(), TooMany> {
        let counted = self.quotas.count(&self.client, self.quota);
        self.set_quota_state(match counted {
            Ok(quota) => quota,
            Err(too_many) => Some(too_many.quota),
        });
        counted.map(drop)
    }

    /// Charges an expensive request as `requests` more requests, minus the `before` that earlier calls have charged. Charges at
    /// most half of a burst in total, so that a client with few other requests can still send the most expensive request.
    pub(crate) fn charge(&self, before: u32, requests: u32) -> Result<(), TooMany> {
        if let Some(quota) = self.quotas.charge(&self.client, self.quota, before, requests)? {
            self.set_quota_state(Some(quota));
        }
        Ok(())
    }

    /// Marks the request as served from the cache, so that it counts less.
    pub(crate) fn note_cache_hit(request: &Request<'_>) {
        request.local_cache(|| CacheHit(true));
    }

    pub(super) fn refund_cache_hit(&self, request: &Request<'_>) {
        if request.local_cache(|| CacheHit(false)).0 {
            self.quotas.refund_cache_hit(&self.client, self.quota);
        }
    }

    pub(super) fn quota_state(&self) -> Option<QuotaState> {
        *self.quota_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_quota_state(&self, quota: Option<QuotaState>) {
        *self.quota_state.lock().unwrap_or_else(PoisonError::into_inner) = quota;
    }
}
