use std::time::Instant;

use tokio::sync::Mutex;

/// Runs an operation once for all callers that wait for it. Each caller gets the result of a run that began after its call, so
/// the result includes all writes acknowledged before the call. At most one run is in progress; callers that arrive during a run
/// share the next one. If the caller that polls the run is cancelled, the next caller starts its own run.
#[derive(Debug)]
pub(super) struct SingleFlight<T>(Mutex<Option<Finished<T>>>);

#[derive(Debug)]
struct Finished<T> {
    began: Instant,
    result: T,
}

impl<T: Clone> SingleFlight<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Runs the operation, or returns the result of a run that another caller began after this call.
    pub(super) async fn run(&self, operation: impl Future<Output = T>) -> T {
        let requested = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(finished) = last.as_ref().filter(|finished| finished.began > requested) {
            return finished.result.clone();
        }
        let began = Instant::now();
        let result = operation.await;
        *last = Some(Finished { began, result: result.clone() });
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use futures::future::join_all;
    use tokio::join;
    use tokio::sync::Semaphore;

    use super::*;

    #[derive(Debug)]
    struct Source {
        started: AtomicU64,
        permits: Semaphore,
    }

    impl Source {
        fn new() -> Self {
            Self { started: AtomicU64::new(0), permits: Semaphore::new(0) }
        }

        async fn run(&self) -> u64 {
            let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
            self.permits.acquire().await.unwrap().forget();
            number
        }

        async fn wait_started(&self, times: u64) {
            while self.started.load(Ordering::SeqCst) < times {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn a_thousand_callers_during_a_run_share_the_next_run() {
        let (flight, source) = (SingleFlight::new(), Source::new());
        let others = async {
            source.wait_started(1).await;
            let waiting = join_all((0..1_000).map(|_| flight.run(source.run())));
            let releasing = async {
                // All other callers have been polled, and so wait, at this point.
                tokio::task::yield_now().await;
                source.permits.add_permits(2);
            };
            join!(waiting, releasing).0
        };
        let (first, others) = join!(flight.run(source.run()), others);
        assert_eq!((first, source.started.load(Ordering::SeqCst)), (1, 2));
        assert!(others.iter().all(|result| *result == 2), "a run that began earlier is not shared");
    }

    #[tokio::test]
    async fn a_caller_after_a_result_starts_its_own_run() {
        let (flight, source) = (SingleFlight::new(), Source::new());
        source.permits.add_permits(2);
        assert_eq!(flight.run(source.run()).await, 1);
        assert_eq!(flight.run(source.run()).await, 2);
    }

    #[tokio::test]
    async fn the_next_caller_runs_the_operation_if_the_running_one_gives_up() {
        let (flight, source) = (Arc::new(SingleFlight::new()), Arc::new(Source::new()));
        let spawn = || {
            let (flight, source) = (Arc::clone(&flight), Arc::clone(&source));
            tokio::spawn(async move { flight.run(source.run()).await })
        };
        let first = spawn();
        source.wait_started(1).await;
        let second = spawn();
        first.abort();
        source.wait_started(2).await;
        source.permits.add_permits(1);
        assert_eq!(second.await.unwrap(), 2);
    }
}
