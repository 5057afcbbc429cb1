//! Runs a server from launch to shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use figment::providers::Serialized;
use rocket::fairing::AdHoc;
use rocket::futures::FutureExt;
use rocket::futures::future::{self, BoxFuture};
use rocket::tokio::net::TcpSocket;
use rocket::tokio::sync::{mpsc, oneshot};
use rocket::tokio::time::Instant;
use rocket::tokio::{self, select, time};
use rocket::{Build, Ignite, Rocket};

use super::redirect::Redirect;
use super::signals::{Signal, Signals};
use super::{LaunchError, Siaga};
use crate::config::Shutdown;
use crate::model::duration::seconds_rounded_up;
use crate::stores::OpenError;

/// The additional time for connections that are still open after the grace period.
const MERCY: Duration = Duration::from_secs(1);
/// Signals within this time are duplicates: some programs signal both a process and its group.
const DUPLICATE_SIGNAL: Duration = Duration::from_secs(1);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Dropped with the last connection, because each connection holds the server and its managed state.
struct LastConnection(#[allow(dead_code, reason = "dropping it is the signal")] mpsc::Sender<Infallible>);

struct ShutdownEvents {
    /// Receives the server's address when Rocket begins to run the shutdown fairings.
    started: oneshot::Receiver<SocketAddr>,
    connections: mpsc::Receiver<Infallible>,
}

impl Siaga {
    /// Serves until it is stopped, or the store fails permanently.
    ///
    /// SIGTERM, SIGINT and Rocket's own [`Shutdown`](rocket::Shutdown) stop the server: it accepts no new connections, finishes
    /// the requests in progress, runs every shutdown fairing to its end, closes the store, and returns. Requests and fairings
    /// that exceed `siaga.shutdown.grace` are cancelled. A second signal, at least a second later, makes it return immediately.
    /// SIGHUP reloads the configuration ([`Reloader`](super::Reloader)).
    ///
    /// # Errors
    ///
    /// [`LaunchError`], as one line for the operator.
    pub async fn launch(self) -> Result<(), LaunchError> {
        let Self { rocket, config, store, failure, reloading, draining, stored_keys, source_watch, .. } =
            self;
        let mut signals = Signals::listen().map_err(LaunchError::Signals)?;
        let reloading = reloading.start().map_err(LaunchError::Signals)?;
        let (rocket, events) = with_shutdown_events(rocket, config.shutdown);
        let rocket = rocket.ignite().await.map_err(|error| LaunchError::Rocket(Box::new(error)))?;
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        let launch_result = |outcome: Result<Rocket<Ignite>, rocket::Error>| {
            outcome.map(drop).map_err(|error| LaunchError::from_rocket(error, address))
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
                outcome = &mut launch => return launch_result(outcome),
                () = shutdown.clone() => break None,
                error = &mut failure => break Some(error),
                signal = signals.next() => match signal {
                    // If a reload is pending already, drop this one: the pending reload will read the new configuration.
                    Signal::Reload => drop(reloading.try_send(())),
                    Signal::End => break None,
                },
            }
        };
        draining.start();
        let stop = async {
            let ShutdownEvents { started, mut connections } = events;
            let stopped = async {
                if failed.is_none() {
                    time::sleep(config.shutdown.delay).await;
                }
                shutdown.notify();
                let deadline = Instant::now() + config.shutdown.grace;
                if time::timeout_at(deadline, fairings_have_run(started)).await.is_err() {
                    tracing::warn!(
                        "shutdown fairings were cancelled: they took longer than siaga.shutdown.grace"
                    );
                }
                deadline
            };
            let deadline = select! {
                // `launch` ends by itself only if the server is not serving yet, or no connection is open.
                outcome = &mut launch => {
                    launch_result(outcome)?;
                    Instant::now()
                }
                deadline = stopped => deadline,
            };
            // While a connection is open, `launch` would wait for the whole grace period. Connections run in their own tasks, so
            // drop `launch` and wait for the last connection.
            drop(launch);
            if time::timeout_at(deadline + 2 * MERCY, connections.recv()).await.is_err() {
                tracing::warn!("requests did not end within siaga.shutdown.grace");
            }
            stored_keys.record_uses().await;
            source_watch.flush().await;
            if time::timeout(CLOSE_TIMEOUT, store.close()).await.is_err() {
                tracing::warn!("the store did not close in time");
            }
            Ok::<(), LaunchError>(())
        };
        select! {
            ended = stop => ended?,
            () = second_signal(&mut signals) => return Err(LaunchError::Stopped),
        }
        failed.map_or(Ok(()), |error| Err(LaunchError::Store(error)))
    }
}

/// Resolves at the next signal to stop that is not a duplicate.
async fn second_signal(signals: &mut Signals) {
    let first = Instant::now();
    loop {
        signals.wait_for_end().await;
        if first.elapsed() >= DUPLICATE_SIGNAL {
            return;
        }
    }
}

/// Disables Rocket's signal handling, and returns the events of the shutdown.
fn with_shutdown_events(rocket: Rocket<Build>, settings: Shutdown) -> (Rocket<Build>, ShutdownEvents) {
    let (start, started) = oneshot::channel();
    let (sender, connections) = mpsc::channel(1);
    let grace = seconds_rounded_up(settings.grace);
    let shutdown = rocket::config::Shutdown {
        ctrlc: false,
        #[cfg(unix)]
        signals: std::collections::HashSet::new(),
        grace: u32::try_from(grace).unwrap_or(u32::MAX),
        mercy: MERCY.as_secs() as u32,
        ..rocket::config::Shutdown::default()
    };
    let figment = rocket.figment().clone().merge(Serialized::global(rocket::Config::SHUTDOWN, shutdown));
    let notify = AdHoc::on_shutdown("Shutdown", |rocket| {
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        Box::pin(async move {
            let _ = start.send(address);
        })
    });
    let rocket = rocket.configure(figment).manage(LastConnection(sender)).attach(notify);
    (rocket, ShutdownEvents { started, connections })
}

/// Waits until Rocket has run all shutdown fairings.
///
/// Rocket runs the fairings concurrently and does not report their end, but closes its listening socket right after the last one.
/// So this function waits until the port is free, or until the caller's timeout if another program takes the port at that moment.
async fn fairings_have_run(started: oneshot::Receiver<SocketAddr>) {
    let Ok(address) = started.await else { return };
    while !is_free(address) {
        time::sleep(POLL_INTERVAL).await;
    }
}

/// Whether no socket listens on an address. Accepted connections may still be open.
fn is_free(address: SocketAddr) -> bool {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let bound = socket.and_then(|socket| {
        socket.set_reuseaddr(true)?;
        socket.bind(address)
    });
    bound.is_ok()
}
