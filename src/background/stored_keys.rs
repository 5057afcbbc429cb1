use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rocket::fairing::{Fairing, Info, Kind};
use rocket::futures::future::join;
use rocket::tokio::{self, time};
use rocket::{Orbit, Rocket};

use crate::auth::KeyRing;
use crate::stores::{KeptKey, Revision, Store, StoreError};
use crate::tasks::run_in_background;

/// How often the keys' revision is looked at, which costs a store nothing as long as it knows it.
const ROUND: Duration = Duration::from_millis(150);
/// How often uses are noted in the store, and how long the end of the service waits for that.
const BETWEEN_NOTES: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps a ring as the store has its keys, and notes in the store when they were used.
///
/// While the store cannot say which keys there are, the ring stays as it was: a key that was accepted goes on to be, and
/// no other begins to.
#[derive(Clone, Debug)]
pub struct StoredKeys(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    ring: Arc<KeyRing>,
    known: Mutex<Known>,
    /// Held while uses are noted, so that whoever comes last finds all of them noted.
    noting: tokio::sync::Mutex<()>,
}

/// What the ring was filled with last.
#[derive(Debug, Default)]
struct Known {
    revision: Option<Revision>,
    left_out: Vec<String>,
    /// Whether it was logged that it cannot be filled.
    failing: bool,
}

impl StoredKeys {
    /// The keys of `store` in `ring`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, ring: Arc<KeyRing>) -> Self {
        Self(Arc::new(Inner { store, ring, known: Mutex::default(), noting: tokio::sync::Mutex::default() }))
    }

    /// Notes in the store which keys were used since that was done last. What cannot be noted in two seconds is lost: at
    /// most it makes a key look a minute less used.
    pub async fn note_uses(&self) {
        // By a task of its own: whoever waits may stop waiting, and what was taken from the ring would be lost with that.
        let inner = Arc::clone(&self.0);
        let _ = time::timeout(PATIENCE, tokio::spawn(async move { inner.note_uses().await })).await;
    }

    /// Fills the ring if the keys have changed since it was filled last. That it cannot be is logged, once.
    pub async fn refresh(&self) {
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
        // The configuration can change, too.
        let left_out = self.ring.left_out();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for name in left_out.iter().filter(|name| !known.left_out.contains(name)) {
            tracing::warn!(
                "the key {name:?} in the store is not accepted: siaga.auth.api_keys has one of the name"
            );
        }
        *known = Known { revision: Some(revision), left_out, failing: false };
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

/// Does something again and again.
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
