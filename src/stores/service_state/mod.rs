//! The state of the service itself, in memory: for stores that hold only an agency's data.

mod keys;
mod sources;
mod uploads;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::OrdMap;

use self::keys::Keys;
use self::uploads::Uploads;
pub(super) use self::uploads::{Image, Received, State};
use super::{KeptKey, Revision, StoreError};
use crate::auth::Secret;
use crate::model::{CardId, Clock, Timestamp};

/// API keys, photos that are not published yet, the key that signs uploads, and when sources were heard: the state of the service, besides the
/// agency's data.
///
/// Everything is in memory: it is lost when the process ends, and each server has its own. Every photo takes about 150
/// bytes until then. A store that holds a `ServiceState` gets all methods of [`ImageStore`](super::ImageStore),
/// [`KeyStore`](super::KeyStore) and [`SourceStore`](super::SourceStore) from it.
#[derive(Debug)]
pub struct ServiceState {
    clock: Arc<dyn Clock>,
    keys: Mutex<Keys>,
    uploads: Mutex<Uploads>,
    signing_key: Mutex<Option<Secret>>,
    last_heard: Mutex<OrdMap<String, Timestamp>>,
}

impl ServiceState {
    /// Returns a state without keys and photos, which takes the time from `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            keys: Mutex::default(),
            uploads: Mutex::default(),
            signing_key: Mutex::default(),
            last_heard: Mutex::default(),
        }
    }

    /// Goes on with keys at a revision.
    pub(super) fn with_keys(self, keys: Vec<KeptKey>, revision: Revision) -> Self {
        Self { keys: Mutex::new(Keys::of(keys, revision)), ..self }
    }

    /// Goes on with images.
    pub(super) fn with_images(self, images: Vec<(CardId, Image)>) -> Self {
        Self { uploads: Mutex::new(images.into_iter().collect()), ..self }
    }

    /// Goes on with the secret that signs the addresses of uploads.
    pub(super) fn with_signing_key(self, secret: Option<Secret>) -> Self {
        Self { signing_key: Mutex::new(secret), ..self }
    }

    /// Goes on with the times at which sources were heard.
    pub(super) fn with_last_heard(self, last_heard: impl IntoIterator<Item = (String, Timestamp)>) -> Self {
        Self { last_heard: Mutex::new(last_heard.into_iter().collect()), ..self }
    }

    /// Returns a state with the same content, which it shares until one of the two changes.
    pub(super) fn fork(&self) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            keys: Mutex::new(lock(&self.keys).clone()),
            uploads: Mutex::new(lock(&self.uploads).clone()),
            signing_key: Mutex::new(lock(&self.signing_key).clone()),
            last_heard: Mutex::new(lock(&self.last_heard).clone()),
        }
    }
}

/// Where a store keeps the state of the service.
pub trait ServiceStore {
    /// Returns the state that the provided methods of [`ImageStore`](super::ImageStore), [`KeyStore`](super::KeyStore) and
    /// [`SourceStore`](super::SourceStore) work on; `None` if the store implements all of them itself.
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
    let missing = || "the store has no ServiceState, and does not implement all of ImageStore, KeyStore and SourceStore";
    store.service_state().ok_or_else(|| StoreError::Backend { source: missing().into() })
}

fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
