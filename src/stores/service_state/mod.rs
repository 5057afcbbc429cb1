//! The state of the service itself, in memory: for stores that hold only an agency's data.

mod keys;
mod uploads;

use std::sync::{Arc, Mutex, PoisonError};

use imbl::OrdMap;

pub(super) use self::keys::Keys;
pub(super) use self::uploads::{Image, Received, State, Uploads};
use super::{StoreError, WebhookState};
use crate::auth::Secret;
use crate::model::{Clock, Timestamp};

/// API keys, photos that are not published yet, the key that signs uploads, when sources were heard, and how far calls have come:
/// the state of the service, besides the agency's data.
///
/// Everything is in memory: it is lost when the process ends, and each server has its own. Every photo takes about 150
/// bytes until then. A store that holds a `ServiceState` gets all methods of [`ImageStore`](super::ImageStore),
/// [`KeyStore`](super::KeyStore), [`SourceStore`](super::SourceStore) and [`WebhookStore`](super::WebhookStore) from it.
#[derive(Debug)]
pub struct ServiceState {
    clock: Arc<dyn Clock>,
    service: Mutex<Service>,
}

/// The parts of the state. Copies share what they have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    pub(super) keys: Keys,
    pub(super) uploads: Uploads,
    /// The secret that signs the addresses of uploads.
    pub(super) signing_key: Option<Secret>,
    pub(super) last_heard: OrdMap<String, Timestamp>,
    /// What is kept of calls, by name.
    pub(super) calls: OrdMap<String, WebhookState>,
}

impl Service {
    /// Notes when a source was heard; returns when it was last heard.
    pub(super) fn heard(&mut self, source: &str, at: Timestamp) -> Timestamp {
        let latest = self.last_heard.get(source).map_or(at, |known| at.max(*known));
        self.last_heard.insert(source.to_owned(), latest);
        latest
    }

    /// Replaces what is kept of a call if it has this version; returns what is kept then.
    pub(super) fn keep_call(&mut self, name: &str, version: u64, text: &str) -> Option<WebhookState> {
        let found = self.calls.get(name).map_or(0, |kept| kept.version);
        let kept =
            (found == version).then(|| WebhookState { version: version + 1, text: text.to_owned() })?;
        self.calls.insert(name.to_owned(), kept.clone());
        Some(kept)
    }
}

impl ServiceState {
    /// Returns a state without keys and photos, which takes the time from `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, service: Mutex::default() }
    }

    /// Reads or changes the state.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Service, Timestamp) -> T) -> T {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut service, self.clock.now())
    }
}

/// Where a store keeps the state of the service.
pub trait ServiceStore {
    /// Returns the state that the provided methods of [`ImageStore`](super::ImageStore), [`KeyStore`](super::KeyStore),
    /// [`SourceStore`](super::SourceStore) and [`WebhookStore`](super::WebhookStore) work on; `None` if the store implements all of them itself.
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
    let missing = || "the store has no ServiceState, and does not implement all of ImageStore, KeyStore, SourceStore and WebhookStore";
    store.service_state().ok_or_else(|| StoreError::Backend { source: missing().into() })
}
