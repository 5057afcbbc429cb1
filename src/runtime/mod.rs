//! Work outside the threads that serve requests.

pub(crate) mod throttle;

use std::convert::Infallible;
use std::sync::Arc;

use rocket::tokio::runtime::Handle;
use rocket::tokio::sync::oneshot;
use rocket::tokio::task::{JoinError, spawn_blocking};
use rocket::tokio::{self, select, task_local};
use rocket::{Orbit, Rocket};

use crate::model::CancelFlag;

task_local! {
    static CURRENT_REQUEST: CurrentRequest;
    /// Present in work on a thread of its own.
    static OWN_THREAD: CancelFlag;
}

/// The request that work belongs to, if it belongs to one. Everything logged within the work, even a panic, has the id of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct CurrentRequest(Option<Arc<str>>);

impl CurrentRequest {
    pub(crate) fn with_id(id: &str) -> Self {
        Self(Some(id.into()))
    }

    /// Returns the request that the caller works for. Tasks and threads that it starts must be given it.
    pub(crate) fn get() -> Self {
        CURRENT_REQUEST.try_with(Self::clone).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Does work that belongs to the request.
    pub(crate) fn run<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT_REQUEST.scope(self, work)
    }

    /// Does the same with work that does not wait.
    pub(crate) fn run_blocking<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT_REQUEST.sync_scope(self, work)
    }
}

/// Signals the work to stop when it is dropped.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.give();
    }
}

/// Runs long work off the threads that serve requests, as part of the caller's request, so that its log lines have the id of the
/// request. If the future is dropped, the work is told by its [`CancelFlag`]. Work that has a thread of its own does it there: it must not wait
/// for another thread, because their number is limited.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> Result<T, JoinError> {
    if let Ok(stop) = OWN_THREAD.try_with(CancelFlag::clone) {
        return Ok(work(&stop));
    }
    let stop = CancelFlag::default();
    let _on_drop = CancelOnDrop(stop.clone());
    let request = CurrentRequest::get();
    spawn_blocking(move || request.run_blocking(|| work(&stop))).await
}

/// Runs long work that also waits, for a database say, on one thread of its own, as part of the caller's request. So no other thread is
/// busy with what it reads, and that is freed where it was allocated, which gives its memory back at once. If the future is dropped, the
/// work is dropped where it waits, and told by its [`CancelFlag`] elsewhere. Returns `None` if the work panics.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl AsyncFnOnce(&CancelFlag) -> T + Send + 'static,
) -> Option<T> {
    let stop = CancelFlag::default();
    let _on_drop = CancelOnDrop(stop.clone());
    let (_waits, gone) = oneshot::channel::<Infallible>();
    let (request, runtime) = (CurrentRequest::get(), Handle::current());
    let working = spawn_blocking(move || {
        runtime.block_on(request.run(OWN_THREAD.scope(stop.clone(), async {
            select! {
                done = work(&stop) => Some(done),
                _ = gone => None,
            }
        })))
    });
    working.await.ok().flatten()
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
    use std::thread;
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
                thread::yield_now();
            }
            stopped.send(()).unwrap();
        }));
        assert!((&mut working).now_or_never().is_none());
        assert_eq!(has_begun.recv_timeout(Duration::from_secs(20)), Ok(Ok(())));
        drop(working);
        assert!(has_stopped.recv_timeout(Duration::from_secs(20)).is_ok());
    }

    #[rocket::async_test]
    async fn work_that_waits_itself_is_dropped_when_nobody_waits_for_it() {
        struct Signal(mpsc::Sender<()>);
        impl Drop for Signal {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let (begun, has_begun) = mpsc::channel();
        let (dropped, is_dropped) = mpsc::channel();
        let mut working = Box::pin(on_own_thread(async move |_| {
            let _signal = Signal(dropped);
            begun.send(()).unwrap();
            rocket::futures::future::pending::<()>().await;
        }));
        assert!((&mut working).now_or_never().is_none());
        assert!(has_begun.recv_timeout(Duration::from_secs(20)).is_ok());
        assert!(is_dropped.try_recv().is_err());
        drop(working);
        assert!(is_dropped.recv_timeout(Duration::from_secs(20)).is_ok());
    }

    #[rocket::async_test]
    async fn work_on_its_own_thread_needs_no_other_thread() {
        let is_one = on_own_thread(async |_| {
            let own = thread::current().id();
            off_thread(move |_| thread::current().id()).await.is_ok_and(|other| other == own)
        });
        assert_eq!(is_one.await, Some(true));
    }

    #[rocket::async_test]
    async fn work_on_its_own_thread_returns_its_result_unless_it_panics() {
        assert_eq!(on_own_thread(async |stop| stop.check()).await, Some(Ok(())));
        assert_eq!(on_own_thread(async |_| -> () { panic!("as the test wants it") }).await, None);
    }

    #[rocket::async_test]
    async fn work_that_is_waited_for_is_not_stopped() {
        assert_eq!(off_thread(CancelFlag::check).await.unwrap(), Ok(()));
    }
}
