use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures::FutureExt;
use futures::future::{self, BoxFuture};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::{runtime, time};

use super::contents::{self, Counts};
use super::database::Database;
use super::error::{FileError, unavailable};
use super::server_lock::ServerLock;
use super::tables::Row;
use super::writer::Writer;
use crate::model::Clock;
use crate::stores::memory::MemoryStore;
use crate::stores::{OpenError, StoreError};

/// How many changes may wait. Each is one call, which waits for it.
const WAITING: usize = 1024;
/// How long a health check waits for the thread.
const LOOK: Duration = Duration::from_millis(800);

/// Makes changes of a store in memory, each of which is in the file before anybody sees it.
///
/// One thread makes all changes, a batch at a time: it makes them on a copy of the store, writes the changed rows in one
/// transaction, and then replaces the store by the copy. If the transaction fails, so do all calls of the batch, and the
/// copy is dropped. So readers never wait, and never see what is not in the file. If a change panics, only its call fails. It
/// is a thread of its own so that changes do not queue behind reads, step by step.
#[derive(Debug)]
pub(super) struct Journal {
    orders: mpsc::Sender<Order>,
    shared: Arc<Shared>,
    timeout: Duration,
}

/// What calls and the thread share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) current: ArcSwap<MemoryStore>,
    /// Why the last change could not be written, or waits, until one can be written again.
    pub(super) failing: ArcSwapOption<&'static str>,
}

impl Shared {
    fn failing(&self) -> Option<&'static str> {
        self.failing.load().as_deref().copied()
    }
}

/// Tells a call the end of its change.
pub(super) type Reply = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// Makes a change of a store, adds the rows to be written, and returns how to tell the result.
pub(super) type Change =
    Box<dyn for<'a> FnOnce(&'a MemoryStore, &'a mut Vec<Row>) -> BoxFuture<'a, Reply> + Send>;

pub(super) enum Order {
    Change(Change),
    /// Closes the file.
    Close(oneshot::Sender<()>),
}

impl Journal {
    /// Loads the store from a file with the current schema, and starts the thread, which holds the lock until it has closed
    /// the file. The returned future resolves if the thread panics.
    pub(super) async fn open(
        database: Database,
        mut connection: SqliteConnection,
        lock: Option<ServerLock>,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Result<(Self, BoxFuture<'static, OpenError>), OpenError> {
        // An import that commits meanwhile must show in all of it, or in nothing.
        let mut snapshot = connection.begin().await.map_err(FileError::from)?;
        let counts = Counts::read(&mut snapshot).await?;
        let store = contents::load(&mut snapshot, counts, &clock).await?;
        snapshot.rollback().await.map_err(FileError::from)?;
        let shared = Shared { current: ArcSwap::from_pointee(store), failing: ArcSwapOption::empty() };
        let shared = Arc::new(shared);
        let (orders, incoming) = mpsc::channel(WAITING);
        let path = database.path.clone();
        let writer = Writer::new(database, connection, counts, clock, Arc::clone(&shared), lock)?;
        let ended = start(writer, incoming)?;
        let failed = async move {
            match ended.await {
                Ok(()) => future::pending().await,
                Err(_) => format!("the file {}: the thread that writes it has failed", path.display()).into(),
            }
        };
        Ok((Self { orders, shared, timeout }, failed.boxed()))
    }

    /// Returns the store as it is in the file.
    pub(super) fn current(&self) -> Arc<MemoryStore> {
        self.shared.current.load_full()
    }

    /// Makes a change: `change` gets a copy of the store, and adds the rows that it changes.
    ///
    /// # Errors
    ///
    /// The error of `change`; [`StoreError::Unavailable`] if the file cannot be written in time.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a MemoryStore, &'a mut Vec<Row>) -> BoxFuture<'a, Result<T, StoreError>>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let apply: Change = Box::new(move |store, rows| {
            let making = async move {
                // Nobody waits for it any more.
                if answer.is_closed() {
                    return Box::new(|_: Result<(), &str>| ()) as Reply;
                }
                let result = change(store, rows).await;
                Box::new(move |written: Result<(), &str>| {
                    let _ = answer.send(written.map_err(unavailable).and(result));
                }) as Reply
            };
            making.boxed()
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

    /// Returns why changes cannot be written; `None` if they can. Takes a second at most, and writes nothing: it lets the
    /// thread begin a transaction.
    pub(super) async fn obstacle(&self) -> Option<&'static str> {
        if let Some(reason) = self.shared.failing() {
            return Some(reason);
        }
        let beginning = self.write(|_, _| async { Ok(()) }.boxed());
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

/// Starts the thread that writes. The returned receiver gets a value when it ends, and none if it panics.
fn start(writer: Writer, incoming: mpsc::Receiver<Order>) -> Result<oneshot::Receiver<()>, OpenError> {
    let (end, ended) = oneshot::channel();
    let runtime = runtime::Builder::new_current_thread().enable_time().build()?;
    let work = move || {
        runtime.block_on(writer.run(incoming));
        // The store may be gone.
        let _ = end.send(());
    };
    thread::Builder::new().name("siaga file".to_owned()).spawn(work)?;
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{block_on, fixture};
    use crate::model::{ManualClock, Timestamp};
    use crate::stores::SourceStore;
    use crate::stores::file::schema;

    async fn heard(journal: &Journal, source: &'static str, panics: bool) -> Result<(), StoreError> {
        let change = journal.write(move |next, rows| {
            let hearing = async move {
                next.heard(source, fixture::now()).await?;
                rows.push(Row::Source(source.to_owned(), fixture::now()));
                assert!(!panics, "a test");
                Ok(())
            };
            hearing.boxed()
        });
        change.await
    }

    #[test]
    fn a_change_that_panics_fails_alone_and_changes_nothing() {
        block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("siaga.db");
            let database = Database::at(path.clone(), Duration::from_secs(10));
            database.create().unwrap();
            let mut connection = database.connect().await.unwrap();
            schema::migrate(&mut connection).await.unwrap();
            let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(fixture::now()));
            let opening = Journal::open(database.clone(), connection, None, clock, Duration::from_secs(10));
            let (journal, _failed) = opening.await.unwrap();
            let all = future::join_all([
                heard(&journal, "first", false),
                heard(&journal, "second", true),
                heard(&journal, "third", false),
            ]);
            let made: Vec<bool> = all.await.iter().map(Result::is_ok).collect();
            assert_eq!(made, [true, false, true]);
            heard(&journal, "fourth", false).await.unwrap();
            let expected = ["first", "fourth", "third"];
            let known = journal.current().last_heard().await.unwrap();
            assert_eq!(known.keys().map(String::as_str).collect::<Vec<_>>(), expected);
            assert_eq!(journal.obstacle().await, None);
            journal.close().await;
            let mut connection = database.connect().await.unwrap();
            let stored: Vec<(String, Timestamp)> =
                super::super::tables::sources(&mut connection).await.unwrap();
            let mut stored: Vec<_> = stored.into_iter().map(|(name, _)| name).collect();
            stored.sort();
            assert_eq!(stored, expected);
            connection.close().await.unwrap();
        });
    }
}
