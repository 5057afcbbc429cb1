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
    /// The cancel flag of the work that runs on its own thread.
    static OWN_THREAD: CancelFlag;
}

/// The request that work belongs to, if any. All log events of the work, even of a panic, contain the id of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct CurrentRequest(Option<Arc<str>>);

impl CurrentRequest {
    pub(crate) fn with_id(id: &str) -> Self {
        Self(Some(id.into()))
    }

    /// Returns the current request. Spawned tasks and threads do not inherit it: pass it to them.
    pub(crate) fn get() -> Self {
        CURRENT_REQUEST.try_with(Self::clone).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Runs work as part of the request.
    pub(crate) fn run<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT_REQUEST.scope(self, work)
    }

    /// Runs blocking work as part of the request.
    pub(crate) fn run_blocking<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT_REQUEST.sync_scope(self, work)
    }
}

struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs blocking work off the async threads, as part of the caller's request. Dropping the future sets the [`CancelFlag`]. Within
/// [`on_own_thread`], runs the work on the same thread, because it must not wait for another thread of the limited pool.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> Result<T, JoinError> {
    if let Ok(cancel) = OWN_THREAD.try_with(CancelFlag::clone) {
        return Ok(work(&cancel));
    }
    let cancel = CancelFlag::default();
    let _on_drop = CancelOnDrop(cancel.clone());
    let request = CurrentRequest::get();
    spawn_blocking(move || request.run_blocking(|| work(&cancel))).await
}

/// Runs long async work on one thread of its own, as part of the caller's request. The data that it reads is then freed on the
/// thread that allocated it, which returns the memory at once. Dropping the future drops the work at its next await, and sets the
/// [`CancelFlag`]. Returns `None` if the work panics.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl AsyncFnOnce(&CancelFlag) -> T + Send + 'static,
) -> Option<T> {
    let cancel = CancelFlag::default();
    let _on_drop = CancelOnDrop(cancel.clone());
    let (_sender, dropped) = oneshot::channel::<Infallible>();
    let (request, runtime) = (CurrentRequest::get(), Handle::current());
    let task = spawn_blocking(move || {
        runtime.block_on(request.run(OWN_THREAD.scope(cancel.clone(), async {
            select! {
                result = work(&cancel) => Some(result),
                _ = dropped => None,
            }
        })))
    });
    task.await.ok().flatten()
}

/// Runs the work of [`off_thread`] in place, so that its order is the same in each run.
#[cfg(test)]
pub(crate) fn in_place<F: Future>(work: F) -> impl Future<Output = F::Output> {
    OWN_THREAD.scope(CancelFlag::default(), work)
}

/// Runs a background task; drops it when the server shuts down.
pub(crate) fn run_in_background(rocket: &Rocket<Orbit>, task: impl Future<Output = ()> + Send + 'static) {
    let shutdown = rocket.shutdown();
    tokio::spawn(async move {
        select! {
            () = task => {}
            () = shutdown => {}
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
    async fn work_is_cancelled_when_its_future_is_dropped() {
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
    async fn async_work_is_dropped_when_its_future_is_dropped() {
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
    async fn off_thread_runs_in_place_on_an_own_thread() {
        let is_one = on_own_thread(async |_| {
            let own = thread::current().id();
            off_thread(move |_| thread::current().id()).await.is_ok_and(|other| other == own)
        });
        assert_eq!(is_one.await, Some(true));
    }

    #[rocket::async_test]
    async fn own_thread_returns_the_result_or_none_after_a_panic() {
        assert_eq!(on_own_thread(async |stop| stop.check()).await, Some(Ok(())));
        assert_eq!(on_own_thread(async |_| -> () { panic!("as the test wants it") }).await, None);
    }

    #[rocket::async_test]
    async fn awaited_work_is_not_cancelled() {
        assert_eq!(off_thread(CancelFlag::check).await.unwrap(), Ok(()));
    }
}
