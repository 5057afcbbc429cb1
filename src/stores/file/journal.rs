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
use super::error::{Cause, FileError, unavailable};
use super::server_lock::ServerLock;
use super::tables::Row;
use crate::model::Clock;
use crate::stores::memory::MemoryStore;
use crate::stores::{OpenError, StoreError};

/// How many changes may wait. Each is one call, which waits for it.
const WAITING: usize = 1024;
/// The most changes in one transaction.
const BATCH: usize = 256;
/// How often to look whether another process has changed the file. Changes of others must show within a second.
const ROUND: Duration = Duration::from_millis(300);

/// Makes changes of a store in memory, each of which is in the file before anybody sees it.
///
/// One thread makes all changes, a batch at a time: it makes them on a copy of the store, writes the changed rows in one
/// transaction, and then replaces the store by the copy. If the transaction fails, so do all calls of the batch, and the
/// copy is dropped. So readers never wait, and never see what is not in the file. It is a thread of its own so that
/// changes do not queue behind reads, step by step.
#[derive(Debug)]
pub(super) struct Journal {
    orders: mpsc::Sender<Order>,
    shared: Arc<Shared>,
    timeout: Duration,
}

/// What calls and the thread share.
#[derive(Debug)]
struct Shared {
    current: ArcSwap<MemoryStore>,
    /// Why the last change could not be written, until one can be written again.
    failing: ArcSwapOption<&'static str>,
}

/// Tells a call the end of its change.
type Reply = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// Makes a change of a store, adds the rows to be written, and returns how to tell the result.
type Change = Box<dyn for<'a> FnOnce(&'a MemoryStore, &'a mut Vec<Row>) -> BoxFuture<'a, Reply> + Send>;

enum Order {
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
        let counts = Counts::read(&mut connection).await?;
        let store = contents::load(&mut connection, counts, &clock).await?;
        let shared = Shared { current: ArcSwap::from_pointee(store), failing: ArcSwapOption::empty() };
        let shared = Arc::new(shared);
        let (orders, incoming) = mpsc::channel(WAITING);
        let path = database.path.clone();
        let writer = Writer {
            database,
            connection: Some(connection),
            counts,
            clock,
            shared: Arc::clone(&shared),
            _lock: lock,
        };
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
            let failing = || self.shared.failing.load().as_deref().copied();
            answered.await.map_err(|_| unavailable(failing().unwrap_or("the file cannot be written")))?
        };
        time::timeout(self.timeout, going).await.map_err(|_| unavailable("writing takes too long"))?
    }

    /// Returns why changes cannot be written; `None` if they can. After a failure it tries to write.
    pub(super) async fn obstacle(&self) -> Option<&'static str> {
        self.shared.failing.load().as_deref()?;
        let probe = self.write(|_, rows| {
            rows.push(Row::Probe);
            async { Ok(()) }.boxed()
        });
        let failed = probe.await.is_err();
        let reason = self.shared.failing.load().as_deref().copied();
        failed.then_some(reason.unwrap_or("writing takes too long"))
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

/// What the thread that writes works with.
struct Writer {
    database: Database,
    /// `None` after an error, until the file is opened again.
    connection: Option<SqliteConnection>,
    /// The counts of the current store.
    counts: Counts,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    _lock: Option<ServerLock>,
}

impl Writer {
    async fn run(mut self, mut incoming: mpsc::Receiver<Order>) {
        let mut orders = Vec::new();
        loop {
            orders.clear();
            let received = time::timeout(ROUND, incoming.recv_many(&mut orders, BATCH)).await;
            let (mut changes, mut closing) = (Vec::new(), Vec::new());
            for order in orders.drain(..) {
                match order {
                    Order::Change(change) => changes.push(change),
                    Order::Close(closed) => closing.push(closed),
                }
            }
            self.turn(changes).await;
            if received == Ok(0) || !closing.is_empty() {
                if let Some(connection) = self.connection.take() {
                    // Nothing is lost if this fails: the next process that opens the file finds everything.
                    let _ = connection.close().await;
                }
                drop(self);
                for closed in closing {
                    let _ = closed.send(());
                }
                return;
            }
        }
    }

    /// Makes a batch of changes, or looks for changes of other processes.
    async fn turn(&mut self, changes: Vec<Change>) {
        let opened = self.opened().await;
        let is_idle = changes.is_empty();
        let result = match opened {
            Err(error) => Err(error),
            Ok(mut connection) if is_idle => {
                let followed = self.follow(&mut connection).await;
                followed.map(|()| self.connection = Some(connection))
            }
            Ok(mut connection) => {
                let committed = self.commit(&mut connection, changes).await;
                committed.map(|()| self.connection = Some(connection))
            }
        };
        match result {
            // Reading says nothing about writing.
            Ok(()) if is_idle => {}
            Ok(()) => {
                if self.shared.failing.swap(None).is_some() {
                    tracing::info!("the file can be written again");
                }
            }
            Err(error) => self.note(&error),
        }
    }

    async fn opened(&mut self) -> Result<SqliteConnection, FileError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.database.connect().await,
        }
    }

    fn note(&self, error: &FileError) {
        let cause = match error {
            FileError::Database(error) => Cause::of(error).text(),
            FileError::Row { .. } => None,
        };
        let reason = cause.unwrap_or("the file cannot be written");
        if self.shared.failing.swap(Some(Arc::new(reason))).is_none() {
            tracing::error!(%error, "the file cannot be written");
        }
    }

    /// Replaces the store if another process has changed the file.
    async fn follow(&mut self, connection: &mut SqliteConnection) -> Result<(), FileError> {
        if Counts::read(connection).await? == self.counts {
            return Ok(());
        }
        let mut snapshot = connection.begin().await?;
        let found = Counts::read(&mut snapshot).await?;
        self.reload(&mut snapshot, found).await?;
        Ok(snapshot.rollback().await?)
    }

    /// Replaces the store by what is in the file. New keys alone take a moment; everything else is read anew.
    async fn reload(&mut self, from: &mut SqliteConnection, found: Counts) -> Result<(), FileError> {
        let current = self.shared.current.load_full();
        let goes_on = found.epoch == self.counts.epoch && found.changes > self.counts.changes;
        let only_keys = goes_on && found.revisions == self.counts.revisions && found.keys > self.counts.keys;
        let store = if only_keys {
            let keys = super::tables::keys(from).await?;
            current.fork().with_keys(keys, found.keys)
        } else {
            let loaded = contents::load(from, found, &self.clock).await?;
            if goes_on { loaded.in_epoch_of(&current) } else { loaded }
        };
        self.shared.current.store(Arc::new(store));
        self.counts = found;
        Ok(())
    }

    /// Makes changes in one transaction. If it fails, the calls are told by the drop of their changes, or by their replies.
    async fn commit(
        &mut self,
        connection: &mut SqliteConnection,
        changes: Vec<Change>,
    ) -> Result<(), FileError> {
        // A transaction that began by reading could not write after another process has written.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let found = Counts::read(&mut transaction).await?;
        if found != self.counts {
            self.reload(&mut transaction, found).await?;
        }
        let store = self.shared.current.load().fork();
        let (mut rows, mut replies) = (Vec::new(), Vec::with_capacity(changes.len()));
        for change in changes {
            replies.push(change(&store, &mut rows).await);
        }
        if rows.is_empty() {
            transaction.rollback().await?;
            for reply in replies {
                reply(Ok(()));
            }
            return Ok(());
        }
        let counts = self.counts.after(&store);
        let writing = async {
            for row in &rows {
                row.write(&mut transaction).await?;
            }
            counts.write(&mut transaction).await?;
            Ok::<_, FileError>(transaction.commit().await?)
        };
        let written = writing.await;
        if written.is_ok() {
            self.counts = counts;
            self.shared.current.store(Arc::new(store));
        }
        let failure = written.as_ref().err().map(ToString::to_string);
        for reply in replies {
            reply(failure.as_deref().map_or(Ok(()), Err));
        }
        written
    }
}
