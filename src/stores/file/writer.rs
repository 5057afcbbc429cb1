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
use crate::stores::local::{Change, Command, Journal, LocalStore, Reply, Row, Shared, State};

/// The maximum number of changes in one transaction.
const BATCH: usize = 256;
/// How often to check whether another process has changed the file. Its changes must become visible within a second.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// If another process prevents a transaction from beginning for this long, health checks report that.
const BUSY_AFTER: Duration = Duration::from_millis(300);
/// Minimum time between two log messages about the same failure.
const LOG_INTERVAL: Duration = Duration::from_mins(1);
/// How long erased data may stay in the log of `SQLite` while changes keep coming.
const TRUNCATE_AFTER: Duration = Duration::from_secs(1);

/// Loads the store from a file with the current schema, and starts the writer thread, which holds the lock until it has closed
/// the file. The returned future resolves if the thread panics.
pub(super) async fn open(
    database: Database,
    mut connection: SqliteConnection,
    lock: Option<ServerLock>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
) -> Result<(LocalStore, BoxFuture<'static, OpenError>), OpenError> {
    // Reads a snapshot, so that a concurrent import is loaded completely or not at all.
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
    Ok((LocalStore::with_journal(journal, clock), failed.boxed()))
}

/// Starts the writer thread. The returned receiver gets a value when the thread ends, and an error if it panics.
fn start(writer: Writer, incoming: mpsc::Receiver<Command>) -> Result<oneshot::Receiver<()>, OpenError> {
    let (end, ended) = oneshot::channel();
    let runtime = runtime::Builder::new_current_thread().enable_time().build()?;
    let work = move || {
        runtime.block_on(writer.run(incoming));
        // Sending fails only if the store was dropped.
        let _ = end.send(());
    };
    thread::Builder::new().name("siaga file".to_owned()).spawn(work)?;
    Ok(ended)
}

struct Writer {
    database: Database,
    /// `None` after an error, until the file is reopened.
    connection: Option<SqliteConnection>,
    /// Identifies the file that was opened at startup. The writer does not use another file at the same path.
    file: Identity,
    /// The log file that the connection uses.
    log: Option<Identity>,
    counts: Counts,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    /// When a failure was last logged, and its reason.
    last_logged: Option<(Instant, &'static str)>,
    /// Whether to log the recovery from that failure.
    log_recovery: bool,
    /// Since when the log of `SQLite` contains erased data; `None` if it contains none.
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
            last_logged: None,
            log_recovery: false,
            erased: None,
            lock,
        })
    }

    /// Executes commands until one closes the file, or all senders are gone.
    async fn run(mut self, mut incoming: mpsc::Receiver<Command>) {
        let mut commands = Vec::new();
        loop {
            commands.clear();
            let received = time::timeout(POLL_INTERVAL, incoming.recv_many(&mut commands, BATCH)).await;
            let (mut changes, mut closing) = (Vec::new(), Vec::new());
            for command in commands.drain(..) {
                match command {
                    Command::Change(change) => changes.push(change),
                    Command::Close(closed) => closing.push(closed),
                }
            }
            self.process(changes).await;
            if received == Ok(0) || !closing.is_empty() {
                self.close().await;
                for closed in closing {
                    let _ = closed.send(());
                }
                return;
            }
        }
    }

    /// Writes a batch of changes. Without changes, checks whether another process has written to the file.
    async fn process(&mut self, mut changes: Vec<Change>) {
        let mut replies = Vec::new();
        let failure = match self.try_process(&mut changes, &mut replies).await {
            Ok(has_written) => {
                if has_written {
                    self.record_success();
                }
                None
            }
            Err(error) => {
                self.record_failure(&error);
                Some(error.to_string())
            }
        };
        // The failure is recorded before the callers get their errors, so that a health check after an error reports it.
        for reply in replies {
            reply(failure.as_deref().map_or(Ok(()), Err));
        }
    }

    /// Returns whether anything was written. After a failure, writes even without changes, to detect the recovery.
    async fn try_process(
        &mut self,
        changes: &mut Vec<Change>,
        replies: &mut Vec<Reply>,
    ) -> Result<bool, FileError> {
        self.check_file()?;
        let mut connection = self.take_connection().await?;
        let is_idle = changes.is_empty();
        let work = async {
            self.check_log()?;
            if is_idle && self.shared.failure.load().is_none() {
                self.reload_if_changed(&mut connection).await.map(|()| false)
            } else {
                self.commit(&mut connection, changes, replies).await
            }
        };
        let result = work.await;
        let is_due = self.erased.is_some_and(|at| is_idle || at.elapsed() >= TRUNCATE_AFTER);
        // The changes are durable even if truncating the log fails.
        if result.is_ok() && (!is_due || self.truncate_log(&mut connection).await.is_ok()) {
            self.connection = Some(connection);
        } else {
            // A failure here is ignored, because the first error is more useful.
            let _ = connection.close().await;
        }
        result
    }

    /// Returns the open connection, or a new one after an error.
    async fn take_connection(&mut self) -> Result<SqliteConnection, FileError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let connection = self.database.connect().await?;
        self.log = self.database.log_identity();
        Ok(connection)
    }

    /// Fails if the file is no longer where it was opened, because writes would be lost with it. Costs one system call.
    fn check_file(&self) -> Result<(), FileError> {
        match Identity::from_path(&self.database.path) {
            Ok(found) if found == self.file => Ok(()),
            Ok(_) => Err(FileError::Lost("another file is in its place")),
            Err(_) => Err(FileError::Lost("the file is gone")),
        }
    }

    /// Fails if the log is no longer where it was opened. Closing the connection afterwards saves the changes in the file.
    fn check_log(&self) -> Result<(), FileError> {
        let is_same = self.database.log_identity() == self.log;
        if is_same { Ok(()) } else { Err(FileError::Lost("the log of the file is gone")) }
    }

    /// Clears the failure. Logs the recovery if the failure was logged.
    fn record_success(&mut self) {
        self.shared.failure.store(None);
        if self.log_recovery {
            self.log_recovery = false;
            tracing::info!("the file can be written again");
        }
    }

    /// Publishes the failure, and logs it unless the same reason was logged less than `LOG_INTERVAL` ago.
    fn record_failure(&mut self, error: &FileError) {
        let reason = error.reason();
        self.shared.failure.store(Some(Arc::new(reason)));
        // On a nearly full disk only some changes fail, so failures can alternate with successes: limit the logging.
        if self.last_logged.is_none_or(|(at, logged)| logged != reason || at.elapsed() >= LOG_INTERVAL) {
            tracing::error!(%error, "the file {} cannot be written", self.database.path.display());
            (self.last_logged, self.log_recovery) = (Some((Instant::now(), reason)), true);
        }
    }

    /// Reads the file again if another process has written to it.
    async fn reload_if_changed(&mut self, connection: &mut SqliteConnection) -> Result<(), FileError> {
        if Counts::read(connection).await? == self.counts {
            return Ok(());
        }
        let mut snapshot = connection.begin().await?;
        let counts = Counts::read(&mut snapshot).await?;
        self.reload(&mut snapshot, counts).await?;
        Ok(snapshot.rollback().await?)
    }

    /// Replaces the state by the content of the file. Reads only the API keys if nothing else has changed, else everything.
    async fn reload(&mut self, from: &mut SqliteConnection, counts: Counts) -> Result<(), FileError> {
        let current = self.shared.current.load_full();
        let same_epoch = counts.epoch == self.counts.epoch && counts.commits > self.counts.commits;
        let only_keys =
            same_epoch && counts.revisions == self.counts.revisions && counts.keys > self.counts.keys;
        let state = if only_keys {
            let keys = tables::keys(from, counts.keys).await?;
            State::clone(&current).with_keys(keys)
        } else {
            // The other process may have erased data, which the log then still contains.
            self.erased.get_or_insert_with(Instant::now);
            let loaded = contents::load(from, counts, self.clock.now()).await?;
            if same_epoch { loaded.continue_epoch(&current) } else { loaded }
        };
        self.shared.current.store(Arc::new(state));
        self.counts = counts;
        Ok(())
    }

    /// Applies changes in one transaction, and returns whether anything was written.
    async fn commit(
        &mut self,
        connection: &mut SqliteConnection,
        changes: &mut Vec<Change>,
        replies: &mut Vec<Reply>,
    ) -> Result<bool, FileError> {
        let is_probe = changes.is_empty();
        let mut transaction = self.begin(connection).await?;
        let counts = Counts::read(&mut transaction).await?;
        if counts != self.counts {
            self.reload(&mut transaction, counts).await?;
        }
        let mut state = State::clone(&self.shared.current.load());
        let mut rows: Vec<Row> = Vec::new();
        for change in changes.drain(..) {
            let now = self.clock.now();
            // The panic hook logs a panic; the state and the rows stay unchanged.
            let unwind_safe = AssertUnwindSafe(|| change(&mut state, &mut rows, now));
            replies.extend(catch_unwind(unwind_safe));
        }
        if rows.is_empty() && !is_probe {
            transaction.rollback().await?;
            return Ok(false);
        }
        let counts = self.counts.next(&state);
        for row in &rows {
            row.write(&mut transaction).await?;
        }
        counts.write(&mut transaction).await?;
        transaction.commit().await?;
        // The file or its log may have been removed during the commit.
        self.check_file()?;
        self.check_log()?;
        self.counts = counts;
        self.shared.current.store(Arc::new(state));
        if rows.iter().any(Row::erases) {
            self.erased.get_or_insert_with(Instant::now);
        }
        Ok(true)
    }

    /// Begins a write transaction. If it waits longer than `BUSY_AFTER` for another process, health checks fail until it begins.
    async fn begin<'c>(
        &self,
        connection: &'c mut SqliteConnection,
    ) -> Result<Transaction<'c, Sqlite>, FileError> {
        // Begins as a writer: a transaction that begins as a reader cannot write if another process has written meanwhile.
        let mut attempt = pin!(connection.begin_with("BEGIN IMMEDIATE"));
        if let Ok(transaction) = time::timeout(BUSY_AFTER, &mut attempt).await {
            return Ok(transaction?);
        }
        let previous = self.shared.failure.swap(Cause::Busy.text().map(Arc::new));
        let transaction = attempt.await?;
        self.shared.failure.store(previous);
        Ok(transaction)
    }

    /// Truncates the log, which still contains erased data. If another process still needs the log, the next round tries again.
    async fn truncate_log(&mut self, connection: &mut SqliteConnection) -> Result<(), FileError> {
        if self.database.truncate_log(connection).await? {
            self.erased = None;
        }
        Ok(())
    }

    /// Closes the file. If that fails, nothing is lost: the next process that opens the file recovers the log.
    async fn close(mut self) {
        if let Some(mut connection) = self.connection.take() {
            if self.erased.is_some() {
                let _ = self.truncate_log(&mut connection).await;
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

    async fn record_heard(store: &LocalStore, source: &'static str, panics: bool) -> Result<(), StoreError> {
        let change = store.write(move |state, rows, now| {
            let latest = state.service_mut().record_heard(source, now);
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
        let database = Database::new(path.clone(), Duration::from_secs(10));
        database.create().unwrap();
        let mut connection = database.connect().await.unwrap();
        schema::migrate(&mut connection).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(Timestamp::EPOCH));
        let open = open(database.clone(), connection, None, clock, Duration::from_secs(10));
        let (store, _failed) = open.await.unwrap();
        let all = [("first", false), ("second", true), ("third", false)];
        let all = future::join_all(all.map(|(source, panics)| record_heard(&store, source, panics)));
        let succeeded: Vec<bool> = all.await.iter().map(Result::is_ok).collect();
        assert_eq!(succeeded, [true, false, true]);
        record_heard(&store, "fourth", false).await.unwrap();
        let stored = store.last_heard().await.unwrap();
        assert!(stored.keys().eq(["first", "fourth", "third"]), "{stored:?}");
        assert!(store.readiness().await.iter().all(|check| check.failure.is_none()));
        store.close().await;
        let mut connection = database.connect().await.unwrap();
        let in_file: Vec<(String, Timestamp)> = tables::SOURCES.all(&mut connection).await.unwrap();
        assert_eq!(in_file.into_iter().collect::<BTreeMap<_, _>>(), stored);
        connection.close().await.unwrap();
    }
}
