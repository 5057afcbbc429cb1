use std::collections::HashSet;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use rocket::futures::FutureExt;
use rocket::tokio;
use rocket::tokio::sync::{mpsc, oneshot};

use super::connections::Connections;
use super::error::{backend, is_contention, unavailable};
use super::link::Link;
use crate::stores::StoreError;

/// Writes jobs of one kind, many at once.
#[async_trait]
pub(super) trait Write: Send + Sync + 'static {
    type Job: Send + Sync + 'static;
    type Done: Send + 'static;
    /// What a job changes: jobs on the same thing are not written together, but one after the other.
    type Thing: Eq + Hash;

    fn thing(job: &Self::Job) -> Self::Thing;

    /// Writes the jobs in one transaction: all or, when it fails, none. Answers them in their order.
    async fn write(&self, link: &mut Link, jobs: &[Self::Job]) -> Result<Answers<Self>, StoreError>;
}

/// What became of each job.
pub(super) type Answers<W> = Vec<Result<<W as Write>::Done, StoreError>>;

/// Joins what is written at the same time into one transaction.
///
/// A commit costs the same for one change as for a hundred. So one task writes, and what comes meanwhile makes up the
/// next transaction: nobody waits for others to come, and the more come the less each costs.
#[derive(Debug)]
pub(super) struct Batches<W: Write>(mpsc::Sender<Waiting<W>>);

type Waiting<W> = (<W as Write>::Job, Caller<<W as Write>::Done>);
type Caller<D> = oneshot::Sender<Result<D, StoreError>>;

/// How many jobs one transaction takes, and how many more may wait.
const LARGEST: usize = 64;
const QUEUE: usize = 1024;

impl<W: Write> Batches<W> {
    /// Starts the task; it ends when the batches are dropped.
    pub(super) fn start(writer: W, connections: Arc<Connections>) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE);
        tokio::spawn(Worker { writer: Arc::new(writer), connections, held: None }.work(queue));
        Self(sender)
    }

    /// Writes a job; it may be written though the caller stops waiting.
    pub(super) async fn submit(&self, job: W::Job) -> Result<W::Done, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let closed = "the store has been closed";
        self.0.send((job, sender)).await.map_err(|_| unavailable(closed))?;
        receiver.await.map_err(|_| unavailable(closed))?
    }
}

struct Worker<W> {
    writer: Arc<W>,
    connections: Arc<Connections>,
    /// The connection in use, as long as there is something to write.
    held: Option<Link>,
}

impl<W: Write> Worker<W> {
    /// Writes what comes until nothing can come any more.
    async fn work(mut self, mut queue: mpsc::Receiver<Waiting<W>>) {
        let mut waiting = Vec::new();
        while queue.recv_many(&mut waiting, LARGEST).await > 0 {
            while !waiting.is_empty() {
                let (jobs, callers) = next::<W>(&mut waiting);
                // Callers of what panics find that nobody answers them; the next must not.
                let _ = AssertUnwindSafe(self.answer(jobs, callers)).catch_unwind().await;
                while waiting.len() < LARGEST
                    && let Ok(job) = queue.try_recv()
                {
                    waiting.push(job);
                }
            }
            if let Some(link) = self.held.take() {
                link.give_back();
            }
        }
    }

    async fn answer(&mut self, jobs: Vec<W::Job>, callers: Vec<Caller<W::Done>>) {
        // A caller that has gone needs no answer.
        let answer = |caller: Caller<W::Done>, answer| drop(caller.send(answer));
        match self.write(&jobs).await {
            Ok(answers) => callers.into_iter().zip(answers).for_each(|(caller, done)| answer(caller, done)),
            Err(StoreError::Unavailable { source, .. }) if !is_contention(&*source) => {
                let reason = source.to_string();
                for caller in callers {
                    answer(caller, Err(unavailable(reason.clone())));
                }
            }
            // One that the database does not take, or that waits for a lock, must not hold up the others.
            Err(_) => {
                for (job, caller) in jobs.into_iter().zip(callers) {
                    let (writer, connections) = (Arc::clone(&self.writer), Arc::clone(&self.connections));
                    tokio::spawn(async move { answer(caller, alone(&*writer, &connections, job).await) });
                }
            }
        }
    }

    async fn write(&mut self, jobs: &[W::Job]) -> Result<Answers<W>, StoreError> {
        let Self { writer, connections, held } = self;
        let writing = async {
            let mut link = match held.take() {
                Some(link) => link,
                None => connections.writer().await?,
            };
            let answers = writer.write(&mut link, jobs).await;
            connections.wrote(&mut link).await;
            // One that is lost is closed, and the next is another.
            if !matches!(answers, Err(StoreError::Unavailable { .. })) {
                *held = Some(link);
            }
            answers
        };
        connections.within(writing).await
    }
}

/// Writes one job by a connection of its own.
async fn alone<W: Write>(writer: &W, connections: &Connections, job: W::Job) -> Result<W::Done, StoreError> {
    let writing = async {
        let mut link = connections.writer().await?;
        let outcome = writer.write(&mut link, &[job]).await;
        connections.wrote(&mut link).await;
        let none = || Err(backend("a job was not answered"));
        link.end(outcome)?.into_iter().next().unwrap_or_else(none)
    };
    connections.within(writing).await
}

/// Takes the first job on each thing.
fn next<W: Write>(waiting: &mut Vec<Waiting<W>>) -> (Vec<W::Job>, Vec<Caller<W::Done>>) {
    let mut things = HashSet::new();
    waiting.extract_if(.., |(job, _)| things.insert(W::thing(job))).unzip()
}
