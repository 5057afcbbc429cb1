use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{mpsc, oneshot};
use tokio::time;

use super::{Row, Rows, State};
use crate::model::Timestamp;
use crate::stores::{Check, StoreError};

/// How many changes may wait. Each is one call, which waits for it.
const WAITING: usize = 1024;
/// How long a health check waits for the thread.
const LOOK: Duration = Duration::from_millis(800);
/// When a client should try again: an operator has to free space or wait for an import.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Makes changes of a state, each of which is in a file before anybody sees it.
///
/// One thread makes all changes, a batch at a time: it makes them on a copy of the state, writes the changed rows in one
/// transaction, and then replaces the state by the copy. If the transaction fails, so do all calls of the batch, and the
/// copy is dropped. So readers never wait, and never see what is not in the file. If a change panics, only its call fails. It
/// is a thread of its own so that changes do not queue behind reads, step by step.
#[derive(Debug)]
pub(in crate::stores) struct Journal {
    orders: mpsc::Sender<Order>,
    shared: Arc<Shared>,
    timeout: Duration,
    path: PathBuf,
    /// Returns why nothing can be written to a folder, as far as the system says it.
    obstacle: fn(&Path) -> Option<&'static str>,
}

/// What calls and the thread share.
#[derive(Debug)]
pub(in crate::stores) struct Shared {
    pub(in crate::stores) current: Arc<ArcSwap<State>>,
    /// Why the last change could not be written, or waits, until one can be written again.
    pub(in crate::stores) failing: ArcSwapOption<&'static str>,
}

impl Shared {
    fn failing(&self) -> Option<&'static str> {
        self.failing.load().as_deref().copied()
    }
}

/// Tells a call the end of its change.
pub(in crate::stores) type Reply = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// Makes a change of a state, adds the rows to be written, and returns how to tell the result. If it panics, nothing has
/// changed.
pub(in crate::stores) type Change = Box<dyn FnOnce(&mut State, &mut Vec<Row>, Timestamp) -> Reply + Send>;

pub(in crate::stores) enum Order {
    Change(Change),
    /// Closes the file.
    Close(oneshot::Sender<()>),
}

impl Journal {
    /// Returns a journal for a state in a file, and the orders for the thread that writes the file.
    pub(in crate::stores) fn new(
        state: State,
        path: PathBuf,
        timeout: Duration,
        obstacle: fn(&Path) -> Option<&'static str>,
    ) -> (Self, Arc<Shared>, mpsc::Receiver<Order>) {
        let current = Arc::new(ArcSwap::from_pointee(state));
        let shared = Arc::new(Shared { current, failing: ArcSwapOption::empty() });
        let (orders, incoming) = mpsc::channel(WAITING);
        (Self { orders, shared: Arc::clone(&shared), timeout, path, obstacle }, shared, incoming)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the state as it is in the file.
    pub(super) fn current(&self) -> Arc<ArcSwap<State>> {
        Arc::clone(&self.shared.current)
    }

    /// Makes a change, see [`LocalStore::write`](super::LocalStore::write).
    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Rows, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let apply: Change = Box::new(move |state, rows, now| {
            // Nobody waits for it any more.
            if answer.is_closed() {
                return Box::new(|_| ());
            }
            let result = state.make(change, rows, now);
            Box::new(move |written| {
                let _ = answer.send(written.map_err(unavailable).and(result));
            })
        });
        let going = async {
            let sent = self.orders.send(Order::Change(apply)).await;
            sent.map_err(|_| unavailable("the file is closed"))?;
            let failed = || self.shared.failing().unwrap_or("the change was not made");
            answered.await.map_err(|_| unavailable(failed()))?
        };
        let late = || self.shared.failing().unwrap_or("writing takes too long");
        time::timeout(self.timeout, going).await.map_err(|_| unavailable(late()))?
    }

    /// Checks whether changes can be written. Takes a second at most.
    pub(super) async fn check(&self) -> Check {
        let since = Instant::now();
        let folder = self.path.parent().unwrap_or(&self.path);
        let failure = self.failure().await.or_else(|| (self.obstacle)(folder));
        Check { name: "file", required: false, failure, took: since.elapsed() }
    }

    /// Returns why changes cannot be written; `None` if they can. Writes nothing: it lets the thread begin a transaction.
    async fn failure(&self) -> Option<&'static str> {
        if let Some(reason) = self.shared.failing() {
            return Some(reason);
        }
        let beginning = self.write(|_, _, _| Ok(()));
        match time::timeout(LOOK, beginning).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) | Err(_) => Some(self.shared.failing().unwrap_or("writing takes too long")),
        }
    }

    /// Waits until everything is written and the file is closed.
    pub(super) async fn close(&self) {
        let (closed, is_closed) = oneshot::channel();
        if self.orders.send(Order::Close(closed)).await.is_ok() {
            let _ = is_closed.await;
        }
    }
}

/// Returns the error for a change that could not be written.
fn unavailable(reason: &str) -> StoreError {
    StoreError::Unavailable { retry_after: RETRY_AFTER, source: reason.into() }
}
