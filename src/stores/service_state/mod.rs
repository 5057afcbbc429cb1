//! The state of the service itself, in memory: for stores that hold only an agency's data.

mod keys;
mod uploads;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::keys::Keys;
use self::uploads::Uploads;
use super::StoreError;
use crate::model::Clock;

/// API keys, and photos that are not published yet: the state of the service, besides the agency's data.
///
/// Everything is in memory: it is lost when the process ends, and each server has its own. Every photo takes about 150
/// bytes until then. A store that holds a `ServiceState` gets all methods of [`ImageStore`](super::ImageStore) and
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

/// Returns the state of a store, for a provided method that works on it.
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
