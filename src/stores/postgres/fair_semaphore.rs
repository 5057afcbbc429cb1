use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::{pin, select, time};

/// How many calls may use connections at the same time. The others wait in the order in which they came.
#[derive(Debug)]
pub(super) struct FairSemaphore {
    permits: Arc<Semaphore>,
    /// Each call that waits holds a clone.
    waiting: Arc<()>,
    /// What the log calls the callers that wait.
    callers: &'static str,
    all: usize,
    /// When the log last said that calls wait for long.
    said: Mutex<Option<Instant>>,
}

/// After how long a wait is logged, and how long until the next one may be.
const LONG: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(30);

impl FairSemaphore {
    pub(super) fn new(callers: &'static str, all: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(all)),
            waiting: Arc::new(()),
            callers,
            all,
            said: Mutex::default(),
        }
    }

    /// Returns how many calls wait.
    pub(super) fn waiting(&self) -> usize {
        Arc::strong_count(&self.waiting) - 1
    }

    /// Waits for a turn, which ends when the permit is dropped. Logs a wait of more than a second, at most once in 30
    /// seconds.
    pub(super) async fn take(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        let _waiting = Arc::clone(&self.waiting);
        let turn = Arc::clone(&self.permits).acquire_owned();
        pin!(turn);
        let taken = select! {
            biased;
            taken = &mut turn => taken,
            () = time::sleep(LONG) => {
                self.say();
                turn.await
            }
        };
        taken.map_err(|_closed| sqlx::Error::PoolClosed)
    }

    fn say(&self) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_none_or(|said| said.elapsed() >= SELDOM) {
            *said = Some(Instant::now());
            tracing::warn!(
                connections = self.all,
                "{} wait for more than a second for a connection to the database: all they may use are in use; look for \
                 slow or blocked statements in pg_stat_activity, or raise databases.siaga.max_connections",
                self.callers
            );
        }
    }
}
