use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};

use super::connections::Connections;
use super::error::{backend, is_contention, unavailable};
use super::link::Link;
use crate::stores::StoreError;
use crate::telemetry::Metrics;

/// Writes many jobs of one kind at once.
#[async_trait]
pub(super) trait Write: Send + Sync + 'static {
    type Job: Send + Sync + 'static;
    type Done: Send + Sync + 'static;
    /// What a job changes. Jobs on the same thing are written one after the other, not together.
    type Thing: Eq + Hash + Send;
    /// The name of these jobs in the metrics.
    const NAME: &'static str;

    fn thing(job: &Self::Job) -> Self::Thing;

    /// Writes the jobs in one transaction: all of them, or none if it fails. Returns their results in the same order.
    async fn write(&self, link: &mut Link, jobs: &[Self::Job]) -> Result<Answers<Self>, StoreError>;
}

/// The result of each job.
pub(super) type Answers<W> = Vec<Result<<W as Write>::Done, StoreError>>;

/// Combines jobs that arrive at the same time into one transaction.
///
/// A commit costs the same for one change as for a hundred. So one task writes, and the jobs that arrive while it
/// writes form the next transaction. No job waits for others to arrive, and the more jobs arrive, the less each one
/// costs.
///
/// The task uses one connection. If a transaction meets a lock of another session, it is rolled back after a moment.
/// Its jobs are set aside and tried one at a time, between the transactions of jobs on other things, for as long as a
/// call waits for locks ([`Connections::lock_patience`]). So a lock delays only the jobs that need it, however many
/// there are.
#[derive(Debug)]
pub(super) struct Batches<W: Write> {
    queue: mpsc::Sender<Waiting<W>>,
    metrics: Metrics,
}

type Waiting<W> = (<W as Write>::Job, Caller<<W as Write>::Done>);
type Caller<D> = oneshot::Sender<Result<D, StoreError>>;

/// How many jobs one transaction takes, and how many more may wait.
const LARGEST: usize = 64;
const QUEUE: usize = 1024;

impl<W: Write> Batches<W> {
    /// Starts the task, which ends when the batches are dropped.
    pub(super) fn start(writer: W, connections: Arc<Connections>) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE);
        let metrics = connections.metrics.clone();
        let worker = Worker { writer, connections, held: None, aside: VecDeque::new() };
        tokio::spawn(worker.work(queue));
        Self { queue: sender, metrics }
    }

    /// Writes a job. The job may be written even if the caller stops waiting.
    pub(super) async fn submit(&self, job: W::Job) -> Result<W::Done, StoreError> {
        let _waiting = self.metrics.batch_job(W::NAME);
        let (sender, receiver) = oneshot::channel();
        let closed = "the store has been closed";
        self.queue.send((job, sender)).await.map_err(|_| unavailable(closed))?;
        receiver.await.map_err(|_| unavailable(closed))?
    }
}

struct Worker<W: Write> {
    writer: W,
    connections: Arc<Connections>,
    /// The connection in use, as long as there is something to write.
    held: Option<Link>,
    /// Jobs to be tried one at a time. Those that were not tried yet come first.
    aside: VecDeque<Aside<W>>,
}

/// A job whose transaction failed, perhaps because of another job in it.
struct Aside<W: Write> {
    job: W::Job,
    caller: Caller<W::Done>,
    since: Instant,
}

impl<W: Write> Worker<W> {
    /// Writes jobs until the queue is closed.
    async fn work(mut self, mut queue: mpsc::Receiver<Waiting<W>>) {
        let mut waiting = Vec::new();
        loop {
            if waiting.is_empty() && self.aside.is_empty() {
                self.give_back();
                if queue.recv_many(&mut waiting, LARGEST).await == 0 {
                    return;
                }
            }
            while waiting.len() < LARGEST
                && let Ok(job) = queue.try_recv()
            {
                waiting.push(job);
            }
            // After a panic the callers of these jobs get an error. The task must go on, so that later callers do not.
            let _ = AssertUnwindSafe(self.go_on(&mut waiting)).catch_unwind().await;
        }
    }

    /// Writes some of the waiting jobs, and some of the jobs that were set aside.
    async fn go_on(&mut self, waiting: &mut Vec<Waiting<W>>) {
        // A caller that has gone was sent a 503. Writing its job now could undo what it has written since.
        waiting.retain(|(_, caller)| !caller.is_closed());
        self.aside.retain(|aside| !aside.caller.is_closed());
        // Jobs on a locked thing would delay the others.
        let aside: HashSet<W::Thing> = self.aside.iter().map(|aside| W::thing(&aside.job)).collect();
        for (job, caller) in waiting.extract_if(.., |(job, _)| aside.contains(&W::thing(job))) {
            self.aside.push_back(Aside { job, caller, since: Instant::now() });
        }
        let (jobs, callers) = next::<W>(waiting);
        if !jobs.is_empty() {
            self.write_together(jobs, callers).await;
        }
        if !self.aside.is_empty() {
            self.write_apart().await;
            // A lock can be held for long, and other writers need the connection, too.
            self.give_back();
        }
    }

    /// Writes jobs in one transaction. If that fails because of one of them, all are set aside.
    async fn write_together(&mut self, jobs: Vec<W::Job>, callers: Vec<Caller<W::Done>>) {
        let outcome = self.write(&jobs).await;
        let is_contended = outcome.as_ref().is_err_and(is_contention);
        match outcome {
            Ok(answers) => callers.into_iter().zip(answers).for_each(|(caller, done)| answer(caller, done)),
            Err(StoreError::Unavailable { source, .. }) if !is_contended => {
                let reason = source.to_string();
                for caller in callers {
                    answer(caller, Err(unavailable(reason.clone())));
                }
            }
            Err(_) => {
                self.connections.metrics.calls_retried(jobs.len());
                let since = Instant::now();
                for (job, caller) in jobs.into_iter().zip(callers).rev() {
                    self.aside.push_front(Aside { job, caller, since });
                }
            }
        }
    }

    /// Writes the jobs that were set aside, one at a time, until one meets a lock.
    async fn write_apart(&mut self) {
        let patience = self.connections.lock_patience();
        let is_late = |aside: &Aside<W>| aside.since.elapsed() >= patience;
        let (late, aside) = mem::take(&mut self.aside).into_iter().partition::<VecDeque<_>, _>(is_late);
        self.aside = aside;
        for Aside { caller, .. } in late {
            answer(caller, Err(unavailable("a lock in the database was not free in time")));
        }
        for _ in 0..self.aside.len() {
            let Some(Aside { job, caller, since }) = self.aside.pop_front() else { return };
            match self.write(slice::from_ref(&job)).await {
                Err(error) if is_contention(&error) => {
                    self.connections.metrics.calls_retried(1);
                    self.aside.push_back(Aside { job, caller, since });
                    return;
                }
                outcome => {
                    let none = || Err(backend("a job was not answered"));
                    answer(caller, outcome.and_then(|done| done.into_iter().next().unwrap_or_else(none)));
                }
            }
        }
    }

    async fn write(&mut self, jobs: &[W::Job]) -> Result<Answers<W>, StoreError> {
        let Self { writer, connections, held, .. } = self;
        connections.metrics.batch_written(W::NAME, jobs.len());
        let writing = async {
            let mut link = match held.take() {
                Some(link) => link,
                None => connections.writer().await?,
            };
            let answers = writer.write(&mut link, jobs).await;
            connections.wrote(&answers);
            if answers.is_ok() {
                *held = Some(link);
                return answers;
            }
            link.end(answers)
        };
        connections.within(writing).await
    }

    fn give_back(&mut self) {
        if let Some(link) = self.held.take() {
            link.give_back();
        }
    }
}

/// Sends a caller its result. A caller that has gone needs none.
fn answer<D>(caller: Caller<D>, done: Result<D, StoreError>) {
    drop(caller.send(done));
}

/// Takes the first job on each thing.
fn next<W: Write>(waiting: &mut Vec<Waiting<W>>) -> (Vec<W::Job>, Vec<Caller<W::Done>>) {
    let mut things = HashSet::new();
    waiting.extract_if(.., |(job, _)| things.insert(W::thing(job))).unzip()
}
