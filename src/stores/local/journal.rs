use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{mpsc, oneshot};
use tokio::time;

use super::{Row, Rows, State};
use crate::model::Timestamp;
use crate::stores::{Check, StoreError};

/// The maximum number of queued changes. One caller waits for each of them.
const QUEUE_LENGTH: usize = 1024;
/// How long a health check waits for the writer thread.
const CHECK_TIMEOUT: Duration = Duration::from_millis(800);
/// Sent to clients as `Retry-After`. Two seconds, because an operator must first free space, or an import must end.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Applies changes to a state, and writes each change to a file before readers can see it.
///
/// One thread applies all changes in batches: it changes a copy of the state, writes the changed rows in one transaction, and
/// then replaces the state by the copy. If the transaction fails, all calls of the batch fail, and the thread drops the copy. So
/// readers never wait, and never see data that is not in the file. If a change panics, only its call fails. Changes have a thread
/// of their own, so that they do not queue behind reads.
#[derive(Debug)]
pub(in crate::stores) struct Journal {
    commands: mpsc::Sender<Command>,
    shared: Arc<Shared>,
    timeout: Duration,
    path: PathBuf,
    /// Returns the reason if the file system of a folder cannot be written, for example because the disk is full.
    obstacle: fn(&Path) -> Option<&'static str>,
}

/// The data that calls share with the writer thread.
#[derive(Debug)]
pub(in crate::stores) struct Shared {
    pub(in crate::stores) current: Arc<ArcSwap<State>>,
    /// Why the last change failed or is delayed; `None` after a change has succeeded.
    pub(in crate::stores) failure: ArcSwapOption<&'static str>,
}

impl Shared {
    fn failure(&self) -> Option<&'static str> {
        self.failure.load().as_deref().copied()
    }
}

/// Sends the result of a change to its caller. The argument is the result of writing the rows.
pub(in crate::stores) type Reply = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// Applies a change to a state, adds the rows to write, and returns the `Reply`. A panic leaves the state unchanged.
pub(in crate::stores) type Change = Box<dyn FnOnce(&mut State, &mut Vec<Row>, Timestamp) -> Reply + Send>;

pub(in crate::stores) enum Command {
    Change(Change),
    Close(oneshot::Sender<()>),
}

impl Journal {
    /// Returns a journal, the data that it shares with the writer thread, and the receiver of commands for that thread.
    pub(in crate::stores) fn new(
        state: State,
        path: PathBuf,
        timeout: Duration,
        obstacle: fn(&Path) -> Option<&'static str>,
    ) -> (Self, Arc<Shared>, mpsc::Receiver<Command>) {
        let current = Arc::new(ArcSwap::from_pointee(state));
        let shared = Arc::new(Shared { current, failure: ArcSwapOption::empty() });
        let (commands, incoming) = mpsc::channel(QUEUE_LENGTH);
        (Self { commands, shared: Arc::clone(&shared), timeout, path, obstacle }, shared, incoming)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn current(&self) -> Arc<ArcSwap<State>> {
        Arc::clone(&self.shared.current)
    }

    /// Sends a change to the writer thread, waits until the rows are written, and returns the result of the change.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut State, &mut Rows, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let apply: Change = Box::new(move |state, rows, now| {
            // Skip the change if its caller has timed out, because nobody waits for the result.
            if sender.is_closed() {
                return Box::new(|_| ());
            }
            let result = state.apply(change, rows, now);
            Box::new(move |written| {
                let _ = sender.send(written.map_err(unavailable).and(result));
            })
        });
        let write = async {
            let sent = self.commands.send(Command::Change(apply)).await;
            sent.map_err(|_| unavailable("the file is closed"))?;
            let reason = || self.shared.failure().unwrap_or("the change was not made");
            receiver.await.map_err(|_| unavailable(reason()))?
        };
        let timeout_reason = || self.shared.failure().unwrap_or("writing takes too long");
        time::timeout(self.timeout, write).await.map_err(|_| unavailable(timeout_reason()))?
    }

    /// Checks whether changes can be written. Takes at most a second.
    pub(super) async fn check(&self) -> Check {
        let since = Instant::now();
        let folder = self.path.parent().unwrap_or(&self.path);
        let failure = self.failure().await.or_else(|| (self.obstacle)(folder));
        Check { name: "file", required: false, failure, took: since.elapsed() }
    }

    /// Returns the reason if changes cannot be written. Lets the writer thread begin a transaction for this, but writes nothing.
    async fn failure(&self) -> Option<&'static str> {
        if let Some(reason) = self.shared.failure() {
            return Some(reason);
        }
        let write = self.write(|_, _, _| Ok(()));
        match time::timeout(CHECK_TIMEOUT, write).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) | Err(_) => Some(self.shared.failure().unwrap_or("writing takes too long")),
        }
    }

    pub(super) async fn close(&self) {
        let (closed, is_closed) = oneshot::channel();
        if self.commands.send(Command::Close(closed)).await.is_ok() {
            let _ = is_closed.await;
        }
    }
}

fn unavailable(reason: &str) -> StoreError {
    StoreError::Unavailable { retry_after: RETRY_AFTER, source: reason.into() }
}
