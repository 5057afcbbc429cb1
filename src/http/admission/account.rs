use std::sync::{Arc, Mutex, PoisonError};

use rocket::Request;

use crate::auth::OwnQuota;
use crate::http::quotas::{Client, QuotaState, Quotas, TooMany};

/// The quota that a request counts against. Clones belong to the same request.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    quotas: Arc<Quotas>,
    client: Client,
    own: Option<OwnQuota>,
    /// The client's quota after the latest count, for the headers of the response.
    standing: Arc<Mutex<Option<QuotaState>>>,
}

/// Whether the response to a request was ready before it.
struct WasReady(bool);

impl Account {
    /// Makes the account of a client, which may have its own quota.
    pub(super) fn new(quotas: &Arc<Quotas>, client: Client, own: Option<OwnQuota>) -> Self {
        Self { quotas: Arc::clone(quotas), client, own, standing: Arc::default() }
    }

    /// Returns the client whose request it is.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Counts the request itself.
    ///
    /// # Errors
    ///
    /// If the request is one too many.
    pub(super) fn count(&self) -> Result<(), TooMany> {
        let counted = self.quotas.count(&self.client, self.own);
        self.stands(match counted {
            Ok(standing) => standing,
            Err(too_many) => Some(too_many.standing),
        });
        counted.map(drop)
    }

    /// Charges the additional cost of a request, as this many more requests, of which `before` were charged before. At most half of a
    /// burst is charged in all, so that a client that has sent a few other requests can still send the most expensive one.
    ///
    /// # Errors
    ///
    /// If the client has fewer requests left.
    pub(crate) fn charge(&self, before: u32, requests: u32) -> Result<(), TooMany> {
        if let Some(standing) = self.quotas.charge(&self.client, self.own, before, requests)? {
            self.stands(Some(standing));
        }
        Ok(())
    }

    /// Notes that the response to a request was ready before it, so that it counts less.
    pub(crate) fn note_ready(request: &Request<'_>) {
        request.local_cache(|| WasReady(true));
    }

    /// Gives back what the request has not cost, if its response was ready.
    pub(super) fn settle(&self, request: &Request<'_>) {
        if request.local_cache(|| WasReady(false)).0 {
            self.quotas.was_ready(&self.client, self.own);
        }
    }

    pub(super) fn standing(&self) -> Option<QuotaState> {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stands(&self, standing: Option<QuotaState>) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }
}
