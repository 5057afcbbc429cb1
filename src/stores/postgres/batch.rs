use std::collections::HashSet;
use std::hash::Hash;

use async_trait::async_trait;
use rocket::tokio;
use rocket::tokio::sync::{mpsc, oneshot};

use super::error::unavailable;
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
    async fn write(&self, jobs: &[Self::Job]) -> Result<Vec<Result<Self::Done, StoreError>>, StoreError>;
}

/// Joins what is written at the same time into one transaction.
///
/// A commit costs the same for one change as for a hundred. So one task writes at a time, and what comes meanwhile
/// makes up the next transaction: nobody waits for others to come, and the more come the less each costs.
#[derive(Debug)]
pub(super) struct Batches<W: Write>(mpsc::Sender<Waiting<W>>);

type Waiting<W> = (<W as Write>::Job, Caller<<W as Write>::Done>);
type Caller<D> = oneshot::Sender<Result<D, StoreError>>;

/// How many jobs one transaction takes, and how many more may wait.
const LARGEST: usize = 64;
const QUEUE: usize = 1024;

impl<W: Write> Batches<W> {
    /// Starts the task; it ends when the batches are dropped.
    pub(super) fn start(writer: W) -> Self {
        let (sender, mut receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            let mut waiting = Vec::new();
            while receiver.recv_many(&mut waiting, LARGEST).await > 0 {
                while !waiting.is_empty() {
                    let (jobs, callers) = next(&writer, &mut waiting);
                    write(&writer, jobs, callers).await;
                }
            }
        });
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

/// Takes the first job on each thing.
fn next<W: Write>(_: &W, waiting: &mut Vec<Waiting<W>>) -> (Vec<W::Job>, Vec<Caller<W::Done>>) {
    let mut things = HashSet::new();
    waiting.extract_if(.., |(job, _)| things.insert(W::thing(job))).unzip()
}

async fn write<W: Write>(writer: &W, jobs: Vec<W::Job>, callers: Vec<Caller<W::Done>>) {
    // A caller that has gone needs no answer.
    let answer = |caller: Caller<W::Done>, answer| drop(caller.send(answer));
    match writer.write(&jobs).await {
        Ok(answers) => callers.into_iter().zip(answers).for_each(|(caller, done)| answer(caller, done)),
        Err(StoreError::Unavailable { source, .. }) => {
            let reason = source.to_string();
            for caller in callers {
                answer(caller, Err(unavailable(reason.clone())));
            }
        }
        // One that the database does not take must not take the others with it.
        Err(_) => {
            for (job, caller) in jobs.chunks(1).zip(callers) {
                let alone = writer.write(job).await;
                let none = || Err(StoreError::Backend { source: "a job was not answered".into() });
                answer(caller, alone.and_then(|answers| answers.into_iter().next().unwrap_or_else(none)));
            }
        }
    }
}
