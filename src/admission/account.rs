use std::sync::{Arc, Mutex, PoisonError};

use crate::auth::OwnQuota;
use crate::quotas::{Client, Quotas, Standing, TooMany};

/// The quota that a request counts against. Clones are of the same request.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    quotas: Arc<Quotas>,
    client: Client,
    own: Option<OwnQuota>,
    /// Where the client stands, as the response tells it.
    standing: Arc<Mutex<Option<Standing>>>,
}

impl Account {
    /// The quota of a client, which may be its own.
    pub(super) fn new(quotas: &Arc<Quotas>, client: Client, own: Option<OwnQuota>) -> Self {
        Self { quotas: Arc::clone(quotas), client, own, standing: Arc::default() }
    }

    /// Counts the request itself.
    ///
    /// # Errors
    ///
    /// When it is one too many.
    pub(super) fn count(&self) -> Result<(), TooMany> {
        let counted = self.quotas.count(&self.client, self.own);
        self.stands(match counted {
            Ok(standing) => standing,
            Err(too_many) => Some(too_many.standing),
        });
        counted.map(drop)
    }

    /// Counts what a request costs beyond itself, as so many more. At most half of a burst is counted, so that a client that
    /// has sent a few others can still send one that costs the most.
    ///
    /// # Errors
    ///
    /// When that is too many; nothing is counted then.
    pub(crate) fn charge(&self, requests: u32) -> Result<(), TooMany> {
        if let Some(standing) = self.quotas.charge(&self.client, self.own, requests)? {
            self.stands(Some(standing));
        }
        Ok(())
    }

    pub(super) fn standing(&self) -> Option<Standing> {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stands(&self, standing: Option<Standing>) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }
}
