use std::time::Instant;

use tokio::sync::Mutex;

/// Runs a call once for all callers that wait for it.
///
/// Each caller gets the result of a call that began after the caller came, so it includes everything acknowledged
/// before. At most one call runs at a time. All callers that come while it runs share the next call. If the caller that
/// runs the call gives up, the next caller runs its own.
#[derive(Debug)]
pub(super) struct SingleFlight<T>(Mutex<Option<Finished<T>>>);

#[derive(Debug)]
struct Finished<T> {
    /// When the call began.
    began: Instant,
    result: T,
}

impl<T: Clone> SingleFlight<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the result of `call`, or of another caller's that began after this method was called.
    pub(super) async fn run(&self, call: impl Future<Output = T>) -> T {
        let called = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(finished) = last.as_ref().filter(|finished| finished.began > called) {
            return finished.result.clone();
        }
        let began = Instant::now();
        let result = call.await;
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

    /// Counts how often it is called, and responds when it may.
    #[derive(Debug)]
    struct Source {
        asked: AtomicU64,
        may_answer: Semaphore,
    }

    impl Source {
        fn new() -> Self {
            Self { asked: AtomicU64::new(0), may_answer: Semaphore::new(0) }
        }

        async fn ask(&self) -> u64 {
            let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
            self.may_answer.acquire().await.unwrap().forget();
            number
        }

        async fn is_asked(&self, times: u64) {
            while self.asked.load(Ordering::SeqCst) < times {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn a_thousand_callers_that_come_during_a_call_share_the_next() {
        let (flight, source) = (SingleFlight::new(), Source::new());
        let others = async {
            source.is_asked(1).await;
            let waiting = join_all((0..1_000).map(|_| flight.run(source.ask())));
            let answering = async {
                // All other callers have been polled, and so wait, when this runs.
                tokio::task::yield_now().await;
                source.may_answer.add_permits(2);
            };
            join!(waiting, answering).0
        };
        let (first, others) = join!(flight.run(source.ask()), others);
        assert_eq!((first, source.asked.load(Ordering::SeqCst)), (1, 2));
        assert!(others.iter().all(|answer| *answer == 2), "what was asked before they came is not theirs");
    }

    #[tokio::test]
    async fn a_caller_that_comes_after_a_result_makes_its_own_call() {
        let (flight, source) = (SingleFlight::new(), Source::new());
        source.may_answer.add_permits(2);
        assert_eq!(flight.run(source.ask()).await, 1);
        assert_eq!(flight.run(source.ask()).await, 2);
    }

    #[tokio::test]
    async fn when_the_caller_that_runs_the_call_gives_up_the_next_runs_its_own() {
        let (flight, source) = (Arc::new(SingleFlight::new()), Arc::new(Source::new()));
        let ask = || {
            let (flight, source) = (Arc::clone(&flight), Arc::clone(&source));
            tokio::spawn(async move { flight.run(source.ask()).await })
        };
        let first = ask();
        source.is_asked(1).await;
        let second = ask();
        first.abort();
        source.is_asked(2).await;
        source.may_answer.add_permits(1);
        assert_eq!(second.await.unwrap(), 2);
    }
}
