//! How one instance learns about the changes that others make.
//!
//! An instance that has written sends a notification over the database's own channel (`NOTIFY`), and every instance
//! listens on a connection of its own. A notification is only a hint: the listener reads the revisions when it receives
//! one, and also when it has received none for a while, so that a lost hint costs only a moment. The listener is down
//! if the database has not responded to it for [`FRESH`].

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future;
use sqlx::postgres::PgListener;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::{select, time};

use super::pool::PostgresPool;
use super::revision::revision;
use crate::stores::{Resource, Revision};

/// The channel, and the listener's name in the database's list of its sessions.
const CHANNEL: &str = "siaga";
const LISTENER: &str = "siaga listener";
/// How long the revisions that the listener has read count as current.
const FRESH: Duration = Duration::from_secs(1);
/// How long the listener waits for a hint, and how long for a response of the database. Together they are less than
/// [`FRESH`].
const HEARTBEAT: Duration = Duration::from_millis(300);
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long connecting may take, and how long until the next attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(250);
/// How long hints are gathered before the next one is sent.
const HINT_INTERVAL: Duration = Duration::from_millis(10);

pub(super) const REVISIONS: &str = "SELECT resource, revision FROM current_revisions";
/// The same, and whether the server accepts no writes.
const SNAPSHOT: &str = "
    SELECT resource, revision, current_setting('transaction_read_only')::boolean FROM current_revisions";
/// Sends a hint, without waiting until it is durable: that would cost more than a listener that learns of a change
/// late.
const NOTIFY: &str = "SELECT set_config('synchronous_commit', 'off', false), pg_notify('siaga', '')";

/// The revisions of all resources, by their names in the table of revisions.
pub(super) type Revisions = HashMap<String, Revision>;

/// Collects the rows of [`REVISIONS`].
pub(super) fn revisions(rows: Vec<(String, i64)>) -> Revisions {
    rows.into_iter().map(|(resource, number)| (resource, revision(number))).collect()
}

/// Returns the name of a resource in the table of revisions.
pub(super) fn resource_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Floods => "floods",
        Resource::Reports => "reports",
        Resource::Gauges => "gauges",
        Resource::Places => "places",
    }
}

/// What the listener and the writers of this instance share.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcer(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Counts the writes of this instance.
    written: AtomicU64,
    hint: Notify,
    /// Whether the listener has lost the database.
    lost: AtomicBool,
    /// Marked as changed with each loss.
    loss: watch::Sender<()>,
}

impl Announcer {
    pub(super) fn announce(&self) {
        self.0.written.fetch_add(1, Ordering::SeqCst);
        self.0.hint.notify_one();
    }

    /// Returns whether the database was lost when the listener last tried it.
    pub(super) fn database_is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// Resolves when the database is lost the next time.
    pub(super) async fn loss(&self) {
        let mut loss = self.0.loss.subscribe();
        if loss.changed().await.is_err() {
            future::pending::<()>().await;
        }
    }

    fn written(&self) -> u64 {
        self.0.written.load(Ordering::SeqCst)
    }
}

/// The revisions that the listener read last. Listens until it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    snapshot: watch::Receiver<Option<Snapshot>>,
    announcer: Announcer,
    listening: AbortHandle,
}

#[derive(Debug)]
struct Snapshot {
    /// When they were requested from the database.
    at: Instant,
    /// How often this instance had written by then.
    written: u64,
    revisions: Revisions,
}

impl Listener {
    pub(super) fn listen(pool: PostgresPool, announcer: Announcer) -> Self {
        let (sender, snapshot) = watch::channel(None);
        let session = Session { pool, announcer: announcer.clone(), snapshot: sender };
        let listening = tokio::spawn(session.run()).abort_handle();
        Self { snapshot, announcer, listening }
    }

    /// Returns the revision with this name. It is less than [`FRESH`] old and includes everything that this instance
    /// has written. `None` if the listener cannot tell.
    pub(super) fn revision(&self, name: &str) -> Option<Revision> {
        let snapshot = self.snapshot.borrow();
        let current = snapshot.as_ref().filter(|snapshot| {
            snapshot.at.elapsed() < FRESH && snapshot.written == self.announcer.written()
        })?;
        current.revisions.get(name).copied()
    }
}

impl Listener {
    /// Returns whether the listener has heard from the database less than [`FRESH`] ago.
    pub(super) fn is_current(&self) -> bool {
        self.current_check()()
    }

    /// Returns a function that tells whether the listener has heard from the database less than [`FRESH`] ago.
    pub(super) fn current_check(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let snapshot = self.snapshot.clone();
        move || snapshot.borrow().as_ref().is_some_and(|snapshot| snapshot.at.elapsed() < FRESH)
    }

    /// Stops listening.
    pub(super) fn stop(&self) {
        self.listening.abort();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The connection of a [`Listener`].
struct Session {
    pool: PostgresPool,
    announcer: Announcer,
    snapshot: watch::Sender<Option<Snapshot>>,
}

impl Session {
    async fn run(self) {
        loop {
            // A panic in the library must not end the listening for good.
            let error = match AssertUnwindSafe(self.session()).catch_unwind().await {
                Ok(Err(error)) => error,
                Err(_panic) => "the listener panicked".into(),
            };
            // Once for each outage, however many attempts follow.
            if !self.announcer.0.lost.swap(true, Ordering::Relaxed) {
                self.pool.invalidate();
                self.announcer.0.loss.send_replace(());
                tracing::warn!(error = &*error, "the database is lost");
            }
            time::sleep(RETRY).await;
        }
    }

    /// Listens until the database is lost.
    async fn session(&self) -> Result<Infallible, Box<dyn Error + Send + Sync>> {
        // A new pool for each session: a connection behind a stalled link may occupy its place in the pool for long.
        let pool = self.pool.single(LISTENER, CONNECT_TIMEOUT).await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        time::timeout(RESPONSE_TIMEOUT, listener.listen(CHANNEL)).await??;
        loop {
            let (at, written) = (Instant::now(), self.announcer.written());
            let reading = sqlx::query_as(SNAPSHOT).fetch_all(&mut listener);
            let rows: Vec<(String, i64, bool)> = time::timeout(RESPONSE_TIMEOUT, reading).await??;
            // A primary can be demoted without a restart. If there is no other host, the listener goes on reading from
            // it.
            if self.pool.has_several_hosts() && rows.iter().any(|(.., read_only)| *read_only) {
                return Err("the server accepts no writes any more".into());
            }
            let rows = rows.into_iter().map(|(resource, number, _)| (resource, number)).collect();
            self.snapshot.send_replace(Some(Snapshot { at, written, revisions: revisions(rows) }));
            if self.announcer.0.lost.swap(false, Ordering::Relaxed) {
                tracing::warn!("the database is back");
            }
            select! {
                received = time::timeout(HEARTBEAT, listener.try_recv()) => match received {
                    Ok(Ok(Some(_))) => while listener.next_buffered().is_some() {},
                    Ok(Ok(None)) => return Err("the connection was closed".into()),
                    Ok(Err(error)) => return Err(error.into()),
                    Err(_silence) => {}
                },
                () = self.announcer.0.hint.notified() => {
                    time::timeout(RESPONSE_TIMEOUT, sqlx::query(NOTIFY).execute(&mut listener)).await??;
                    time::sleep(HINT_INTERVAL).await;
                }
            }
        }
    }
}
