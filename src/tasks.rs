//! Work outside the threads that serve requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rocket::tokio::task::{JoinError, spawn_blocking};
use rocket::tokio::{self, select};
use rocket::{Orbit, Rocket};
use tracing::Span;

/// Tells long work to stop because nothing waits for it any more. Clones share the signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// The work stopped because nothing waits for it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request waits for it any more")]
pub struct Stopped;

impl Stop {
    /// Fails once nothing waits for the work any more. Costs about a nanosecond.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.0.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(()) }
    }
}

/// Signals the work to stop when it is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs long work off the threads that serve requests, within the span of the caller, so that its log lines have the id of the
/// request. If the future is dropped, the work is told by its [`Stop`].
///
/// # Errors
///
/// If the work panics.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let stop = Stop::default();
    let _on_drop = StopOnDrop(stop.clone());
    let span = Span::current();
    spawn_blocking(move || span.in_scope(|| work(&stop))).await
}

/// Runs a background task until the server shuts down; it is dropped then.
pub(crate) fn run_in_background(rocket: &Rocket<Orbit>, task: impl Future<Output = ()> + Send + 'static) {
    let stop = rocket.shutdown();
    tokio::spawn(async move {
        select! {
            () = task => {}
            () = stop => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use rocket::futures::FutureExt;

    use super::*;
    use crate::conformance::block_on;

    #[test]
    fn work_is_told_when_nobody_waits_for_it() {
        block_on(async {
            let (begun, has_begun) = mpsc::channel();
            let (stopped, has_stopped) = mpsc::channel();
            let mut working = Box::pin(off_thread(move |stop| {
                begun.send(stop.check()).unwrap();
                while stop.check().is_ok() {
                    std::thread::yield_now();
                }
                stopped.send(()).unwrap();
            }));
            assert!((&mut working).now_or_never().is_none());
            assert_eq!(has_begun.recv_timeout(Duration::from_secs(20)), Ok(Ok(())));
            drop(working);
            assert!(has_stopped.recv_timeout(Duration::from_secs(20)).is_ok());
        });
    }

    #[test]
    fn work_that_is_waited_for_is_not_stopped() {
        block_on(async {
            assert_eq!(off_thread(Stop::check).await.unwrap(), Ok(()));
        });
    }
}
