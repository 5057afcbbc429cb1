//! The state of the service itself, in memory: for stores that keep an agency's data and nothing else.

mod keys;
mod uploads;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::keys::Keys;
use self::uploads::Uploads;
use super::StoreError;
use crate::model::Clock;

/// API keys, and photos that are not published yet: the state of the service, beside the data of the agency.
///
/// Holds them in memory: they are lost when the process ends, and each server has its own. Remembers each photo until then,
/// in about 150 bytes. A store that holds one gets all methods of [`ImageStore`](super::ImageStore) and
/// [`KeyStore`](super::KeyStore) from it.
#[derive(Debug)]
pub struct ServiceState {
    clock: Arc<dyn Clock>,
    keys: Mutex<Keys>,
    uploads: Mutex<Uploads>,
}

impl ServiceState {
    /// Returns a state without keys and photos, which takes the time from `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, keys: Mutex::default(), uploads: Mutex::default() }
    }
}

/// Where a store keeps the state of the service.
pub trait ServiceStore {
    /// Returns the state that the provided methods of [`ImageStore`](super::ImageStore) and [`KeyStore`](super::KeyStore)
    /// work on; `None` if the store implements all of them itself.
    ///
    /// With `Some`, `siaga key` refuses to make keys, since no server would know them.
    fn service_state(&self) -> Option<&ServiceState>;
}

/// The state of a store that implements a provided method by it.
///
/// # Errors
///
/// [`StoreError::Backend`] if the store neither has a state nor implements the method.
pub(super) fn state<S: ServiceStore + ?Sized>(store: &S) -> Result<&ServiceState, StoreError> {
    let missing = || "the store has no ServiceState, and does not implement all of ImageStore and KeyStore";
    store.service_state().ok_or_else(|| StoreError::Backend { source: missing().into() })
}

fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
