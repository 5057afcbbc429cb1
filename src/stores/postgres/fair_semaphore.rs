use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::{pin, select, time};

/// Limits concurrent use of connections. Waiters are served in order of arrival.
#[derive(Debug)]
pub(super) struct FairSemaphore {
    permits: Arc<Semaphore>,
    /// Counts the waiters: each one holds a clone.
    waiting: Arc<()>,
    callers: &'static str,
    size: usize,
    last_warning: Mutex<Option<Instant>>,
}

/// Waits of [`LONG_WAIT`] or more are logged, at most once every [`WARNING_INTERVAL`].
const LONG_WAIT: Duration = Duration::from_secs(1);
const WARNING_INTERVAL: Duration = Duration::from_secs(30);

impl FairSemaphore {
    pub(super) fn new(callers: &'static str, size: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(size)),
            waiting: Arc::new(()),
            callers,
            size,
            last_warning: Mutex::default(),
        }
    }

    pub(super) fn waiting(&self) -> usize {
        Arc::strong_count(&self.waiting) - 1
    }

    /// Waits for a permit. Logs a warning if that takes longer than `LONG_WAIT`.
    pub(super) async fn acquire(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        let _waiting = Arc::clone(&self.waiting);
        let permit = Arc::clone(&self.permits).acquire_owned();
        pin!(permit);
        let acquired = select! {
            biased;
            acquired = &mut permit => acquired,
            () = time::sleep(LONG_WAIT) => {
                self.warn();
                permit.await
            }
        };
        acquired.map_err(|_closed| sqlx::Error::PoolClosed)
    }

    /// Logs that callers wait, at most once per `WARNING_INTERVAL`.
    fn warn(&self) {
        let mut last_warning = self.last_warning.lock().unwrap_or_else(PoisonError::into_inner);
        if last_warning.is_none_or(|last_warning| last_warning.elapsed() >= WARNING_INTERVAL) {
            *last_warning = Some(Instant::now());
            tracing::warn!(
                connections = self.size,
                "{} wait for more than a second for a connection to the database: all they may use are in use; look for \
                 slow or blocked statements in pg_stat_activity, or raise databases.siaga.max_connections",
                self.callers
            );
        }
    }
}
