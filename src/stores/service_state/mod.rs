//! In-memory state of the service, for stores that themselves store only an agency's data.

mod keys;
mod push;
mod uploads;

use std::sync::{Arc, Mutex, PoisonError};

use imbl::OrdMap;

pub(super) use self::keys::Keys;
pub(super) use self::push::PushRecords;
pub(super) use self::uploads::{Image, ImageState, ReceivedUpload, Uploads};
use super::{StoreError, WebhookState};
use crate::auth::Secret;
use crate::model::{Clock, Timestamp};

/// The state of the service apart from the agency's data: API keys, unpublished photos, the key that signs uploads, when sources
/// last reported, checkpoints of webhooks, and push subscriptions.
///
/// Everything is in memory: the state is lost when the process ends, and each server has its own state. An unpublished photo
/// takes about 150 bytes, a subscription about 1 kB. A store with a `ServiceState` need not implement the methods of [`ImageStore`](super::ImageStore),
/// [`KeyStore`](super::KeyStore), [`SourceStore`](super::SourceStore), [`WebhookStore`](super::WebhookStore) and [`PushStore`](super::PushStore).
#[derive(Debug)]
pub struct ServiceState {
    clock: Arc<dyn Clock>,
    service: Mutex<Service>,
}

/// The data of a `ServiceState` or a local store. Clones share their unchanged parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    pub(super) keys: Keys,
    pub(super) uploads: Uploads,
    /// The secret that signs upload addresses.
    pub(super) signing_key: Option<Secret>,
    pub(super) last_heard: OrdMap<String, Timestamp>,
    pub(super) webhooks: OrdMap<String, WebhookState>,
    pub(super) push: PushRecords,
}

impl Service {
    /// Records that a source reported at `at`. Returns the time of its latest report, which may be later than `at`.
    pub(super) fn record_heard(&mut self, source: &str, at: Timestamp) -> Timestamp {
        let latest = self.last_heard.get(source).map_or(at, |stored| at.max(*stored));
        self.last_heard.insert(source.to_owned(), latest);
        latest
    }

    /// Replaces the state of a webhook if its stored version is `version`. Returns the new state; `None` if the versions differ.
    pub(super) fn put_webhook(&mut self, name: &str, version: u64, text: &str) -> Option<WebhookState> {
        let found = self.webhooks.get(name).map_or(0, |state| state.version);
        let state =
            (found == version).then(|| WebhookState { version: version + 1, text: text.to_owned() })?;
        self.webhooks.insert(name.to_owned(), state.clone());
        Some(state)
    }
}

impl ServiceState {
    /// Returns an empty state, which reads the time from `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, service: Mutex::default() }
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Service, Timestamp) -> T) -> T {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut service, self.clock.now())
    }
}

/// Access to the `ServiceState` of a store.
pub trait ServiceStore {
    /// Returns the state that the default methods of [`ImageStore`](super::ImageStore), [`KeyStore`](super::KeyStore),
    /// [`SourceStore`](super::SourceStore) and [`WebhookStore`](super::WebhookStore) use. Returns `None` if the store implements
    /// all these methods itself.
    ///
    /// If the result is `Some`, `siaga key` refuses to create keys: they would be lost when the command ends.
    fn service_state(&self) -> Option<&ServiceState>;
}

pub(super) fn state<S: ServiceStore + ?Sized>(store: &S) -> Result<&ServiceState, StoreError> {
    let missing = || "the store has no ServiceState, and does not implement all of ImageStore, KeyStore, SourceStore, WebhookStore and PushStore";
    store.service_state().ok_or_else(|| StoreError::Backend { source: missing().into() })
}
