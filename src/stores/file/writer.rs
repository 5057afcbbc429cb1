use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};
use tokio::sync::{mpsc, oneshot};
use tokio::{runtime, time};

use super::contents::{self, Counts};
use super::database::Database;
use super::error::{Cause, FileError};
use super::file_system::{self, Identity};
use super::server_lock::ServerLock;
use super::tables;
use crate::model::Clock;
use crate::stores::OpenError;
use crate::stores::local::{Change, Journal, LocalStore, Order, Reply, Row, Shared, State};

/// The most changes in one transaction.
const BATCH: usize = 256;
/// How often to look whether another process has changed the file. Changes of others must show within a second.
const ROUND: Duration = Duration::from_millis(300);
/// After how long a transaction that cannot begin shows in the health check.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often the log tells of the same failure.
const TOLD_AGAIN: Duration = Duration::from_mins(1);
/// How long what was erased may stay in the log of `SQLite` while changes keep coming.
const EMPTIED_AFTER: Duration = Duration::from_secs(1);

/// Loads the store from a file with the current schema, and starts the thread that writes it, which holds the lock until it has
/// closed the file. The returned future resolves if the thread panics.
pub(super) async fn open(
    database: Database,
    mut connection: SqliteConnection,
    lock: Option<ServerLock>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
) -> Result<(LocalStore, BoxFuture<'static, OpenError>), OpenError> {
    // An import that commits meanwhile must show in all of it, or in nothing.
    let mut snapshot = connection.begin().await.map_err(FileError::from)?;
    let counts = Counts::read(&mut snapshot).await?;
    let state = contents::load(&mut snapshot, counts, clock.now()).await?;
    snapshot.rollback().await.map_err(FileError::from)?;
    let path = database.path.clone();
    let (journal, shared, incoming) = Journal::new(state, path.clone(), timeout, file_system::obstacle);
    let writer = Writer::new(database, connection, counts, Arc::clone(&clock), shared, lock)?;
    let ended = start(writer, incoming)?;
    let failed = async move {
        match ended.await {
            Ok(()) => future::pending().await,
            Err(_) => format!("the file {}: the thread that writes it has failed", path.display()).into(),
        }
    };
    Ok((LocalStore::journalled(journal, clock), failed.boxed()))
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
    /// The file that was opened at first. No other is opened in its place.
    file: Identity,
    /// The log of the connection.
    log: Option<Identity>,
    /// The counts of the current state.
    counts: Counts,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    /// When the last failure was logged, and its reason.
    told: Option<(Instant, &'static str)>,
    /// Whether the end of that failure is still to be logged.
    tells_end: bool,
    /// When something was erased that the log of `SQLite` still holds.
    erased: Option<Instant>,
    lock: Option<ServerLock>,
}

impl Writer {
    fn new(
        database: Database,
        connection: SqliteConnection,
        counts: Counts,
        clock: Arc<dyn Clock>,
        shared: Arc<Shared>,
        lock: Option<ServerLock>,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            file: Identity::from_path(&database.path)?,
            log: database.log_identity(),
            database,
            connection: Some(connection),
            counts,
            clock,
            shared,
            told: None,
            tells_end: false,
            erased: None,
            lock,
        })
    }

    /// Carries out orders until it is told to close the file, or nobody can give any.
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
                self.close().await;
                for closed in closing {
                    let _ = closed.send(());
                }
                return;
            }
        }
    }

    /// Makes a batch of changes, or looks for changes of other processes.
    async fn turn(&mut self, mut changes: Vec<Change>) {
        let mut replies = Vec::new();
        let failure = match self.work(&mut changes, &mut replies).await {
            Ok(has_written) => {
                if has_written {
                    self.note_success();
                }
                None
            }
            Err(error) => {
                self.note(&error);
                Some(error.to_string())
            }
        };
        // Health checks must know of a failure before its callers do, whom replies tell, or the drop of their changes.
        for reply in replies {
            reply(failure.as_deref().map_or(Ok(()), Err));
        }
    }

    /// Returns whether it has written. After a failure, it tries to write even if there is nothing to be written.
    async fn work(&mut self, changes: &mut Vec<Change>, replies: &mut Vec<Reply>) -> Result<bool, FileError> {
        self.check_file()?;
        let mut connection = self.opened().await?;
        let is_idle = changes.is_empty();
        let working = async {
            self.check_log()?;
            if is_idle && self.shared.failing.load().is_none() {
                self.follow(&mut connection).await.map(|()| false)
            } else {
                self.commit(&mut connection, changes, replies).await
            }
        };
        let worked = working.await;
        let is_due = self.erased.is_some_and(|at| is_idle || at.elapsed() >= EMPTIED_AFTER);
        // If it fails, the changes are made all the same.
        if worked.is_ok() && (!is_due || self.empty_log(&mut connection).await.is_ok()) {
            self.connection = Some(connection);
        } else {
            // The error is more use than that of the close.
            let _ = connection.close().await;
        }
        worked
    }

    async fn opened(&mut self) -> Result<SqliteConnection, FileError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let connection = self.database.connect().await?;
        self.log = self.database.log_identity();
        Ok(connection)
    }

    /// Fails if the file is no longer where it was opened: what is written then is lost with it. Costs a call of the system.
    fn check_file(&self) -> Result<(), FileError> {
        match Identity::from_path(&self.database.path) {
            Ok(found) if found == self.file => Ok(()),
            Ok(_) => Err(FileError::Lost("another file is in its place")),
            Err(_) => Err(FileError::Lost("the file is gone")),
        }
    }

    /// The same for the log of the connection. When the connection is closed then, `SQLite` moves its changes into the file.
    fn check_log(&self) -> Result<(), FileError> {
        let is_same = self.database.log_identity() == self.log;
        if is_same { Ok(()) } else { Err(FileError::Lost("the log of the file is gone")) }
    }

    fn note_success(&mut self) {
        self.shared.failing.store(None);
        if self.tells_end {
            self.tells_end = false;
            tracing::info!("the file can be written again");
        }
    }

    fn note(&mut self, error: &FileError) {
        let reason = error.reason();
        self.shared.failing.store(Some(Arc::new(reason)));
        // A disk that is almost full takes some changes and not others.
        if self.told.is_none_or(|(at, told)| told != reason || at.elapsed() >= TOLD_AGAIN) {
            tracing::error!(%error, "the file {} cannot be written", self.database.path.display());
            (self.told, self.tells_end) = (Some((Instant::now(), reason)), true);
        }
    }

    /// Replaces the state if another process has changed the file.
    async fn follow(&mut self, connection: &mut SqliteConnection) -> Result<(), FileError> {
        if Counts::read(connection).await? == self.counts {
            return Ok(());
        }
        let mut snapshot = connection.begin().await?;
        let found = Counts::read(&mut snapshot).await?;
        self.reload(&mut snapshot, found).await?;
        Ok(snapshot.rollback().await?)
    }

    /// Replaces the state by the content of the file. New keys alone take a moment; otherwise the whole file is read.
    async fn reload(&mut self, from: &mut SqliteConnection, found: Counts) -> Result<(), FileError> {
        let current = self.shared.current.load_full();
        let goes_on = found.epoch == self.counts.epoch && found.commits > self.counts.commits;
        let only_keys = goes_on && found.revisions == self.counts.revisions && found.keys > self.counts.keys;
        let state = if only_keys {
            let keys = tables::API_KEYS.all(from).await?;
            State::clone(&current).with_keys(keys, found.keys)
        } else {
            // The other process may have erased something.
            self.erased.get_or_insert_with(Instant::now);
            let loaded = contents::load(from, found, self.clock.now()).await?;
            if goes_on { loaded.in_epoch_of(&current) } else { loaded }
        };
        self.shared.current.store(Arc::new(state));
        self.counts = found;
        Ok(())
    }

    /// Makes changes in one transaction, and returns whether anything was written.
    async fn commit(
        &mut self,
        connection: &mut SqliteConnection,
        changes: &mut Vec<Change>,
        replies: &mut Vec<Reply>,
    ) -> Result<bool, FileError> {
        let is_probe = changes.is_empty();
        let mut transaction = self.begin(connection).await?;
        let found = Counts::read(&mut transaction).await?;
        if found != self.counts {
            self.reload(&mut transaction, found).await?;
        }
        let mut state = State::clone(&self.shared.current.load());
        let mut rows: Vec<Row> = Vec::new();
        for change in changes.drain(..) {
            let now = self.clock.now();
            // A panic is logged by the hook, and has changed nothing.
            let changing = AssertUnwindSafe(|| change(&mut state, &mut rows, now));
            replies.extend(catch_unwind(changing));
        }
        if rows.is_empty() && !is_probe {
            transaction.rollback().await?;
            return Ok(false);
        }
        let counts = self.counts.after(&state);
        for row in &rows {
            row.write(&mut transaction).await?;
        }
        counts.write(&mut transaction).await?;
        transaction.commit().await?;
        // They may have been taken away meanwhile.
        self.check_file()?;
        self.check_log()?;
        self.counts = counts;
        self.shared.current.store(Arc::new(state));
        if rows.iter().any(Row::erases) {
            self.erased.get_or_insert_with(Instant::now);
        }
        Ok(true)
    }

    /// Begins a transaction that writes. While another process writes, health checks are told at once.
    async fn begin<'c>(
        &self,
        connection: &'c mut SqliteConnection,
    ) -> Result<Transaction<'c, Sqlite>, FileError> {
        // A transaction that began by reading could not write after another process has written.
        let mut beginning = pin!(connection.begin_with("BEGIN IMMEDIATE"));
        if let Ok(begun) = time::timeout(PATIENCE, &mut beginning).await {
            return Ok(begun?);
        }
        let before = self.shared.failing.swap(Cause::Busy.text().map(Arc::new));
        let begun = beginning.await?;
        self.shared.failing.store(before);
        Ok(begun)
    }

    /// Moves the log into the file, and cuts it: it still holds what was erased. While another process reads an older state,
    /// it is tried again in the next round.
    async fn empty_log(&mut self, connection: &mut SqliteConnection) -> Result<(), FileError> {
        if self.database.empty_log(connection).await? {
            self.erased = None;
        }
        Ok(())
    }

    /// Closes the file. Nothing is lost if that fails: the next process that opens the file finds everything.
    async fn close(mut self) {
        if let Some(mut connection) = self.connection.take() {
            if self.erased.is_some() {
                let _ = self.empty_log(&mut connection).await;
            }
            let _ = connection.close().await;
        }
        if let Some(lock) = self.lock.take() {
            lock.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::{ManualClock, Timestamp};
    use crate::stores::file::schema;
    use crate::stores::{SourceStore, Store, StoreError};

    async fn heard(store: &LocalStore, source: &'static str, panics: bool) -> Result<(), StoreError> {
        let change = store.write(move |state, rows, now| {
            let latest = state.service_mut().heard(source, now);
            rows.add(|| [Row::Source(source.to_owned(), latest)]);
            assert!(!panics, "a test");
            Ok(())
        });
        change.await
    }

    #[tokio::test]
    async fn a_change_that_panics_fails_alone_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("siaga.db");
        let database = Database::at(path.clone(), Duration::from_secs(10));
        database.create().unwrap();
        let mut connection = database.connect().await.unwrap();
        schema::migrate(&mut connection).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(Timestamp::EPOCH));
        let opening = open(database.clone(), connection, None, clock, Duration::from_secs(10));
        let (store, _failed) = opening.await.unwrap();
        let all = [("first", false), ("second", true), ("third", false)];
        let all = future::join_all(all.map(|(source, panics)| heard(&store, source, panics)));
        let made: Vec<bool> = all.await.iter().map(Result::is_ok).collect();
        assert_eq!(made, [true, false, true]);
        heard(&store, "fourth", false).await.unwrap();
        let known = store.last_heard().await.unwrap();
        assert!(known.keys().eq(["first", "fourth", "third"]), "{known:?}");
        assert!(store.readiness().await.iter().all(|check| check.failure.is_none()));
        store.close().await;
        let mut connection = database.connect().await.unwrap();
        let stored: Vec<(String, Timestamp)> = tables::SOURCES.all(&mut connection).await.unwrap();
        assert_eq!(stored.into_iter().collect::<BTreeMap<_, _>>(), known);
        connection.close().await.unwrap();
    }
}
