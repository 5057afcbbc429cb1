//! The life of a running service, from its first request to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use figment::providers::Serialized;
use rocket::fairing::AdHoc;
use rocket::futures::FutureExt;
use rocket::futures::future::{self, BoxFuture};
use rocket::tokio::sync::{mpsc, oneshot};
use rocket::tokio::{self, select, time};
use rocket::{Build, Ignite, Rocket};

use super::signals::{Signal, Signals};
use super::{LaunchError, Siaga};
use crate::config::Shutdown;
use crate::duration::whole_seconds;
use crate::redirect::Redirect;
use crate::stores::OpenError;

/// How long connections that do not end may take beyond the time of the requests under way.
const MERCY: Duration = Duration::from_secs(1);
/// Signals within this time are one: some programs signal a process and its group.
const TWIN: Duration = Duration::from_secs(1);
/// How long the store may take to give back what it holds.
const CLOSING: Duration = Duration::from_secs(2);

/// Dropped with the last connection, which keeps the server and all it manages.
struct LastConnection(#[allow(dead_code, reason = "its end is what is told")] mpsc::Sender<Infallible>);

/// When the server has heard that it is to end, and when its last connection has ended.
struct Ends {
    heard: oneshot::Receiver<()>,
    last: mpsc::Receiver<Infallible>,
}

impl Siaga {
    /// Serves until it is told to stop, or the store cannot go on.
    ///
    /// SIGTERM and SIGINT have it end: it takes no new connection, answers what is under way, closes the store, and
    /// returns as soon as that is done (`siaga.shutdown`). A second one, at least a second later, has it return at once. SIGHUP has it read its
    /// configuration anew ([`Reloading`](super::Reloading)).
    ///
    /// # Errors
    ///
    /// [`LaunchError`], whose text is one line for the operator.
    pub async fn launch(self) -> Result<(), LaunchError> {
        let Self { rocket, config, store, failure, reloading, draining, stored_keys, .. } = self;
        let mut signals = Signals::listen().map_err(LaunchError::Signals)?;
        let (rocket, ends) = with_ends(rocket, config.shutdown);
        let rocket = rocket.ignite().await.map_err(|error| LaunchError::Rocket(Box::new(error)))?;
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        let ended = |done: Result<Rocket<Ignite>, rocket::Error>| {
            done.map(drop).map_err(|error| LaunchError::of_rocket(error, address))
        };
        let shutdown = rocket.shutdown();
        if let Some(port) = config.https.redirect_from {
            let port = port.get();
            let redirect = Redirect::bind(address.ip(), port, config.base_url.origin()).await;
            let redirect = redirect.map_err(|error| LaunchError::Redirect { port, error })?;
            tokio::spawn(redirect.serve(shutdown.clone()));
        }
        let mut launch = rocket.launch().boxed();
        let mut failure: BoxFuture<'_, OpenError> = failure.unwrap_or_else(|| future::pending().boxed());
        let failed = loop {
            select! {
                done = &mut launch => return ended(done),
                error = &mut failure => break Some(error),
                signal = signals.next() => match signal {
                    Signal::Reload => reloading.reload_and_log(),
                    Signal::End => break None,
                },
            }
        };
        draining.begin();
        let ending = async {
            if failed.is_none() {
                select! {
                    () = time::sleep(config.shutdown.delay) => {}
                    done = &mut launch => return ended(done),
                }
            }
            shutdown.notify();
            select! {
                // It was not serving yet, or has nothing under way.
                done = &mut launch => return ended(done),
                _ = ends.heard => {}
            }
            // With it goes the socket, and nothing new is accepted. What is left of it would wait for all of the grace
            // while a connection is open; the connections, which go on by themselves, tell when the last has ended.
            drop(launch);
            let mut last = ends.last;
            if time::timeout(config.shutdown.grace + 2 * MERCY, last.recv()).await.is_err() {
                tracing::warn!("requests were not answered within siaga.shutdown.grace");
            }
            stored_keys.note_uses().await;
            if time::timeout(CLOSING, store.close()).await.is_err() {
                tracing::warn!("the store did not close in time");
            }
            Ok::<(), LaunchError>(())
        };
        select! {
            ended = ending => ended?,
            () = second(&mut signals) => return Err(LaunchError::Stopped),
        }
        failed.map_or(Ok(()), |error| Err(LaunchError::Store(error)))
    }
}

/// Resolves when it is told to end once more, after the time in which signals count as one.
async fn second(signals: &mut Signals) {
    let first = Instant::now();
    loop {
        signals.end().await;
        if first.elapsed() >= TWIN {
            return;
        }
    }
}

/// The server with signals left to the service, and what tells its ends.
fn with_ends(rocket: Rocket<Build>, settings: Shutdown) -> (Rocket<Build>, Ends) {
    let (hear, heard) = oneshot::channel();
    let (sender, last) = mpsc::channel(1);
    let grace = whole_seconds(settings.grace);
    let own = rocket::config::Shutdown {
        ctrlc: false,
        #[cfg(unix)]
        signals: std::collections::HashSet::new(),
        grace: u32::try_from(grace).unwrap_or(u32::MAX),
        mercy: MERCY.as_secs() as u32,
        ..rocket::config::Shutdown::default()
    };
    let figment = rocket.figment().clone().merge(Serialized::global(rocket::Config::SHUTDOWN, own));
    let told = AdHoc::on_shutdown("Told to end", |_| {
        Box::pin(async move {
            // Nobody may listen any more.
            let _ = hear.send(());
        })
    });
    (rocket.configure(figment).manage(LastConnection(sender)).attach(told), Ends { heard, last })
}
