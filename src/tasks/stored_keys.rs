use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::futures::future::join;
use rocket::tokio::{self, time};
use rocket::{Orbit, Rocket};

use crate::auth::KeyRing;
use crate::runtime::run_in_background;
use crate::stores::{KeptKey, Revision, Store, StoreError};

/// How often the revision of the keys is checked. This costs a store nothing if it already knows the revision.
const ROUND: Duration = Duration::from_millis(150);
/// How often uses are noted in the store. Shutdown waits for the last note for at most `PATIENCE`.
const BETWEEN_NOTES: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps a key ring in step with the keys in the store, and notes in the store when they were used.
///
/// While the store cannot return its keys, the ring stays as it was: keys that were accepted still are, and no other key is.
#[derive(Clone, Debug)]
pub(crate) struct StoredKeys(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    ring: Arc<KeyRing>,
    known: Mutex<RingState>,
    /// Held while uses are noted, so that when the last call returns, all uses are noted.
    noting: tokio::sync::Mutex<()>,
}

/// The state of the ring when it was last filled.
#[derive(Debug, Default)]
struct RingState {
    revision: Option<Revision>,
    left_out: Vec<String>,
    /// Whether it was logged that the ring cannot be filled.
    failing: bool,
}

impl StoredKeys {
    /// Makes a task that fills `ring` with the keys in `store`.
    #[must_use]
    pub(crate) fn new(store: Arc<dyn Store>, ring: Arc<KeyRing>) -> Self {
        Self(Arc::new(Inner { store, ring, known: Mutex::default(), noting: tokio::sync::Mutex::default() }))
    }

    /// Notes in the store which keys were used since the last note. If that takes more than two seconds, the notes may be lost;
    /// then a key looks at most a minute less used than it is.
    pub(crate) async fn note_uses(&self) {
        // Runs in its own task, because the caller may stop waiting, and the uses already taken from the ring would then be
        // lost.
        let inner = Arc::clone(&self.0);
        let _ = time::timeout(PATIENCE, tokio::spawn(async move { inner.note_uses().await })).await;
    }

    /// Fills the ring if the keys have changed since it was last filled. A failure is logged once.
    pub(crate) async fn refresh(&self) {
        let done = self.0.refresh().await;
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = &done
            && !known.failing
        {
            tracing::warn!(error = error as &dyn std::error::Error, "the keys in the store cannot be read");
        }
        known.failing = done.is_err();
    }
}

impl Inner {
    async fn refresh(&self) -> Result<(), StoreError> {
        let revision = self.store.keys_revision().await?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).revision;
        let revision = if known == Some(revision) {
            revision
        } else {
            let found = self.store.keys().await?;
            let (valid, revoked): (Vec<_>, Vec<_>) =
                found.value.into_iter().partition(|kept| kept.revoked_at.is_none());
            let keys = |kept: Vec<KeptKey>| kept.into_iter().map(|kept| kept.entry.key);
            self.ring.fill(keys(valid), keys(revoked));
            found.revision
        };
        // The configuration can change too.
        let left_out = self.ring.left_out();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for name in left_out.iter().filter(|name| !known.left_out.contains(name)) {
            tracing::warn!(
                "the key {name:?} in the store is not accepted: siaga.auth.api_keys has one of the name"
            );
        }
        *known = RingState { revision: Some(revision), left_out, failing: false };
        Ok(())
    }

    async fn note_uses(&self) {
        let _noting = self.noting.lock().await;
        let uses = self.ring.take_uses();
        if !uses.is_empty()
            && let Err(error) = self.store.note_key_uses(&uses).await
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "uses of keys are noted later");
            self.ring.return_uses(uses);
        }
    }
}

/// Repeats `round` forever, with a `pause` before each.
async fn each<F: Future<Output = ()>>(pause: Duration, mut round: impl FnMut() -> F) -> Infallible {
    loop {
        time::sleep(pause).await;
        round().await;
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
            join(each(ROUND, || keys.refresh()), each(BETWEEN_NOTES, || keys.note_uses())).await;
        });
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.note_uses().await;
    }
}
