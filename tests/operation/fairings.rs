//! Custom fairings during shutdown.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use figment::Figment;
use figment::providers::Serialized;
use rocket::Shutdown;
use rocket::fairing::{AdHoc, Fairing};
use rocket::tokio::net::TcpStream;
use rocket::tokio::sync::oneshot;
use rocket::tokio::{self, time};
use siaga::stores::{Decorator, Store};
use siaga::{LaunchError, Siaga};

/// A fairing that awaits several times during shutdown, then counts.
fn slow(finished: &Arc<AtomicUsize>) -> AdHoc {
    let finished = Arc::clone(finished);
    AdHoc::on_shutdown("Slow", move |_| {
        Box::pin(async move {
            for _ in 0..20 {
                time::sleep(Duration::from_millis(10)).await;
            }
            finished.fetch_add(1, Ordering::SeqCst);
        })
    })
}

/// A store that records its closing.
#[derive(Debug)]
struct Closing(Arc<dyn Store>, Arc<AtomicBool>);

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl Decorator for Closing {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn close(&self) {
        self.1.store(true, Ordering::SeqCst);
    }
}

fn figment(grace: &str) -> Figment {
    let rocket = rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        port: 0,
        ..rocket::Config::debug_default()
    };
    Figment::from(rocket)
        .merge(Serialized::default("siaga.dataset", "empty"))
        .merge(Serialized::default("siaga.images.url", "memory:///"))
        .merge(Serialized::default("siaga.shutdown.grace", grace))
}

/// A fairing that sends the endpoint and the shutdown handle of the server.
fn listening() -> (impl Fairing, oneshot::Receiver<(SocketAddr, Shutdown)>) {
    let (sender, receiver) = oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let fairing = AdHoc::on_liftoff("Listening", move |rocket| {
        let (address, port) = (rocket.config().address, rocket.config().port);
        let sender = sender.lock().unwrap().take().unwrap();
        sender.send((SocketAddr::new(address, port), rocket.shutdown())).ok().unwrap();
        Box::pin(async {})
    });
    (fairing, receiver)
}

/// A server whose store fails on demand, with a slow fairing attached twice, and once by another fairing.
async fn with_slow_fairings(
    finished: &Arc<AtomicUsize>,
) -> (Siaga, oneshot::Receiver<(SocketAddr, Shutdown)>, oneshot::Sender<()>) {
    let (listening, listens) = listening();
    let staged = slow(finished);
    let stage = AdHoc::on_ignite("Stage", |rocket| Box::pin(async move { rocket.attach(staged) }));
    let builder = Siaga::builder().figment(figment("1m"));
    let builder = builder.attach(slow(finished)).attach(stage).attach(slow(finished)).attach(listening);
    let mut service = builder.build().await.unwrap();
    let (fail, failed) = oneshot::channel();
    service.failure = Some(Box::pin(async {
        failed.await.unwrap();
        "it is gone".into()
    }));
    (service, listens, fail)
}

#[rocket::async_test]
async fn fairings_of_others_run_to_their_end_while_a_connection_is_open() {
    let finished = Arc::default();
    let (service, listens, fail) = with_slow_fairings(&finished).await;
    let launch = tokio::spawn(service.launch());
    let (address, _) = listens.await.unwrap();
    let open = TcpStream::connect(address).await.unwrap();
    let signalled = Instant::now();
    fail.send(()).unwrap();
    let ended = launch.await.unwrap();
    assert!(matches!(ended, Err(LaunchError::Store(_))), "{ended:?}");
    assert_eq!(finished.load(Ordering::SeqCst), 3);
    assert!(signalled.elapsed() < Duration::from_secs(30), "it waits for fairings, not for the grace");
    drop(open);
}

#[rocket::async_test]
async fn fairings_that_exceed_the_grace_period_are_cancelled() {
    let (listening, listens) = listening();
    let endless = AdHoc::on_shutdown("Endless", |_| Box::pin(std::future::pending()));
    let builder = Siaga::builder().figment(figment("1s")).attach(endless).attach(listening);
    let launch = tokio::spawn(builder.launch());
    let (_, shutdown) = listens.await.unwrap();
    shutdown.notify();
    time::timeout(Duration::from_secs(20), launch).await.unwrap().unwrap().unwrap();
}

#[rocket::async_test]
async fn the_store_is_closed_by_every_kind_of_shutdown() {
    let finished = Arc::default();
    let (mut service, listens, _fail) = with_slow_fairings(&finished).await;
    let closed = Arc::new(AtomicBool::new(false));
    service.store = Arc::new(Closing(service.store, Arc::clone(&closed)));
    let launch = tokio::spawn(service.launch());
    let (_, shutdown) = listens.await.unwrap();
    shutdown.notify();
    launch.await.unwrap().unwrap();
    assert_eq!(finished.load(Ordering::SeqCst), 3);
    assert!(closed.load(Ordering::SeqCst));
}
