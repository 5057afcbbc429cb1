use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::futures::future::join;
use rocket::tokio::{self, time};
use rocket::{Orbit, Rocket};

use crate::auth::KeyRing;
use crate::runtime::run_in_background;
use crate::stores::{Revision, Store, StoreError, StoredKey};

/// Interval of checking the keys' revision. A check costs almost nothing if the store has the revision in memory.
const CHECK_INTERVAL: Duration = Duration::from_millis(150);
/// Interval of recording uses. Shutdown waits for the last record for at most `FLUSH_TIMEOUT`.
const USES_INTERVAL: Duration = Duration::from_secs(3);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Updates a key ring from the store, and records the use of keys.
///
/// While the store cannot return its keys, the ring stays unchanged.
#[derive(Clone, Debug)]
pub(crate) struct StoredKeys(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    ring: Arc<KeyRing>,
    known: Mutex<RingState>,
    /// Held while uses are recorded, so that a later call waits until an earlier call has stored its uses.
    recording: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct RingState {
    revision: Option<Revision>,
    left_out: Vec<String>,
    /// Whether the last update failed. Then the failure was logged, and is not logged again.
    is_failing: bool,
}

impl StoredKeys {
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, ring: Arc<KeyRing>) -> Self {
        Self(Arc::new(Inner {
            store,
            ring,
            known: Mutex::default(),
            recording: tokio::sync::Mutex::default(),
        }))
    }

    /// Records the uses of keys. Uses not stored within two seconds can be lost.
    pub(crate) async fn record_uses(&self) {
        // Runs in a separate task. Otherwise, if the caller stopped waiting, the uses already taken from the ring would be lost.
        let inner = Arc::clone(&self.0);
        let _ = time::timeout(FLUSH_TIMEOUT, tokio::spawn(async move { inner.record_uses().await })).await;
    }

    /// Updates the ring if the keys have changed. Logs a failure once.
    pub(crate) async fn refresh(&self) {
        let result = self.0.refresh().await;
        let mut state = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = &result
            && !state.is_failing
        {
            tracing::warn!(error = error as &dyn std::error::Error, "the keys in the store cannot be read");
        }
        state.is_failing = result.is_err();
    }
}

impl Inner {
    /// Reads the keys again if they have changed, and warns about each key that the configuration overrides.
    async fn refresh(&self) -> Result<(), StoreError> {
        let revision = self.store.keys_revision().await?;
        let known_revision = self.known.lock().unwrap_or_else(PoisonError::into_inner).revision;
        let revision = if known_revision == Some(revision) {
            revision
        } else {
            let stored = self.store.keys().await?;
            let (valid, revoked): (Vec<_>, Vec<_>) =
                stored.value.into_iter().partition(|key| key.revoked_at.is_none());
            let api_keys = |stored: Vec<StoredKey>| stored.into_iter().map(|key| key.entry.key);
            let ended = self.store.ended_logins().await?;
            self.ring.fill(api_keys(valid), api_keys(revoked));
            self.ring.set_ended_logins(ended.into_iter().map(|ended| (ended.subject, ended.number)));
            stored.revision
        };
        // Checked on every refresh, because the configuration can change even if the stored keys do not.
        let left_out = self.ring.overridden();
        let mut state = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for name in left_out.iter().filter(|name| !state.left_out.contains(name)) {
            tracing::warn!(
                "the key {name:?} in the store is not accepted: siaga.auth.api_keys has one of the name"
            );
        }
        *state = RingState { revision: Some(revision), left_out, is_failing: false };
        Ok(())
    }

    /// Stores the uses of keys since the last call. After a failure, keeps them for the next call.
    async fn record_uses(&self) {
        let _recording = self.recording.lock().await;
        let uses = self.ring.take_uses();
        if !uses.is_empty()
            && let Err(error) = self.store.note_key_uses(&uses).await
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "cannot record key uses; retrying");
            self.ring.return_uses(uses);
        }
    }
}

/// Runs `action` forever, with a `pause` before each run.
async fn repeat<F: Future<Output = ()>>(pause: Duration, mut action: impl FnMut() -> F) -> Infallible {
    loop {
        time::sleep(pause).await;
        action().await;
    }
}

#[rocket::async_trait]
impl Fairing for StoredKeys {
    fn info(&self) -> Info {
        Info { name: "Stored keys", kind: Kind::Liftoff | Kind::Shutdown }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let keys = self.clone();
        run_in_background(rocket, async move {
            join(repeat(CHECK_INTERVAL, || keys.refresh()), repeat(USES_INTERVAL, || keys.record_uses()))
                .await;
        });
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.record_uses().await;
    }
}
