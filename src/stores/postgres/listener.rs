//! Keeps the revisions of an instance current when other instances write.
//!
//! After a write, an instance sends a notification (`NOTIFY`). Every instance listens on its own connection. A notification is
//! only a hint: the listener reads the revisions after each one and every [`HEARTBEAT`], so a lost notification costs only a
//! short delay. The listener counts as down if the database has not responded to it for [`FRESH`].

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

/// The channel, and the `application_name` of the listener's connection.
const CHANNEL: &str = "siaga";
const LISTENER: &str = "siaga listener";
/// How long a snapshot of the revisions counts as current.
const FRESH: Duration = Duration::from_secs(1);
/// How long the listener waits for a notification, and for a response. The sum must be less than [`FRESH`].
const HEARTBEAT: Duration = Duration::from_millis(300);
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(250);
/// Several writes within this time cause only one notification.
const HINT_INTERVAL: Duration = Duration::from_millis(10);

pub(super) const REVISIONS: &str = "SELECT resource, revision FROM current_revisions";
/// [`REVISIONS`], and whether the server is read-only.
const SNAPSHOT: &str = "
    SELECT resource, revision, current_setting('transaction_read_only')::boolean FROM current_revisions";
/// Sends a notification without waiting for durability: waiting would cost more than a late notification.
const NOTIFY: &str = "SELECT set_config('synchronous_commit', 'off', false), pg_notify('siaga', '')";

pub(super) type Revisions = HashMap<String, Revision>;

pub(super) fn revisions(rows: Vec<(String, i64)>) -> Revisions {
    rows.into_iter().map(|(resource, number)| (resource, revision(number))).collect()
}

pub(super) fn resource_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Floods => "floods",
        Resource::Reports => "reports",
        Resource::Gauges => "gauges",
        Resource::Places => "places",
    }
}

/// Counts writes for the listener, and shows whether the listener has lost the database.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcer(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    write_count: AtomicU64,
    hint: Notify,
    lost: AtomicBool,
    loss: watch::Sender<()>,
}

impl Announcer {
    pub(super) fn announce(&self) {
        self.0.write_count.fetch_add(1, Ordering::SeqCst);
        self.0.hint.notify_one();
    }

    pub(super) fn database_is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// Resolves at the next loss of the database.
    pub(super) async fn loss(&self) {
        let mut loss = self.0.loss.subscribe();
        if loss.changed().await.is_err() {
            future::pending::<()>().await;
        }
    }

    fn write_count(&self) -> u64 {
        self.0.write_count.load(Ordering::SeqCst)
    }
}

/// Listens in a background task, which ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    snapshot: watch::Receiver<Option<Snapshot>>,
    announcer: Announcer,
    task: AbortHandle,
}

/// The revisions of all resources from one query.
#[derive(Debug)]
struct Snapshot {
    /// When the query began.
    at: Instant,
    /// The value of `Shared::write_count` when the query began.
    write_count: u64,
    revisions: Revisions,
}

impl Listener {
    pub(super) fn listen(pool: PostgresPool, announcer: Announcer) -> Self {
        let (sender, snapshot) = watch::channel(None);
        let session = Session { pool, announcer: announcer.clone(), snapshot: sender };
        let task = tokio::spawn(session.run()).abort_handle();
        Self { snapshot, announcer, task }
    }

    /// Returns a revision if it is less than [`FRESH`] old and includes all writes of this instance.
    pub(super) fn revision(&self, name: &str) -> Option<Revision> {
        let snapshot = self.snapshot.borrow();
        let current = snapshot.as_ref().filter(|snapshot| {
            snapshot.at.elapsed() < FRESH && snapshot.write_count == self.announcer.write_count()
        })?;
        current.revisions.get(name).copied()
    }
}

impl Listener {
    /// Whether the last snapshot is less than [`FRESH`] old.
    pub(super) fn is_current(&self) -> bool {
        self.current_check()()
    }

    /// Returns [`is_current`](Self::is_current) as a function that does not borrow the listener.
    pub(super) fn current_check(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let snapshot = self.snapshot.clone();
        move || snapshot.borrow().as_ref().is_some_and(|snapshot| snapshot.at.elapsed() < FRESH)
    }

    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Session {
    pool: PostgresPool,
    announcer: Announcer,
    snapshot: watch::Sender<Option<Snapshot>>,
}

impl Session {
    /// Runs sessions without end; logs the loss of the database once per outage.
    async fn run(self) {
        loop {
            // A panic in the library must not stop the listener for good.
            let error = match AssertUnwindSafe(self.session()).catch_unwind().await {
                Ok(Err(error)) => error,
                Err(_panic) => "the listener panicked".into(),
            };
            // Log once for each outage, not for each attempt.
            if !self.announcer.0.lost.swap(true, Ordering::Relaxed) {
                self.pool.invalidate();
                self.announcer.0.loss.send_replace(());
                tracing::warn!(error = &*error, "the database is lost");
            }
            time::sleep(RETRY).await;
        }
    }

    /// Reads the revisions at each notification or heartbeat; returns only when the connection fails.
    async fn session(&self) -> Result<Infallible, Box<dyn Error + Send + Sync>> {
        // Each session uses a new pool, because a connection that no longer responds may occupy the old pool for long.
        let pool = self.pool.single(LISTENER, CONNECT_TIMEOUT).await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        time::timeout(RESPONSE_TIMEOUT, listener.listen(CHANNEL)).await??;
        loop {
            let (at, write_count) = (Instant::now(), self.announcer.write_count());
            let query = sqlx::query_as(SNAPSHOT).fetch_all(&mut listener);
            let rows: Vec<(String, i64, bool)> = time::timeout(RESPONSE_TIMEOUT, query).await??;
            // A primary can become a standby without a restart. With a single host, the listener stays connected to it.
            if self.pool.has_several_hosts() && rows.iter().any(|(.., read_only)| *read_only) {
                return Err("the server accepts no writes any more".into());
            }
            let rows = rows.into_iter().map(|(resource, number, _)| (resource, number)).collect();
            self.snapshot.send_replace(Some(Snapshot { at, write_count, revisions: revisions(rows) }));
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
