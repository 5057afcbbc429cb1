//! Work outside the threads that serve requests.

use rocket::tokio::task::{JoinError, spawn_blocking};
use rocket::tokio::{self, select};
use rocket::{Orbit, Rocket};
use tracing::Span;

use crate::model::Stop;

/// Signals the work to stop when it is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.give();
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

    #[rocket::async_test]
    async fn work_is_told_when_nobody_waits_for_it() {
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
    }

    #[rocket::async_test]
    async fn work_that_is_waited_for_is_not_stopped() {
        assert_eq!(off_thread(Stop::check).await.unwrap(), Ok(()));
    }
}
