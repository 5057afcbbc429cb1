use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    End,
    Reload,
}

#[cfg(unix)]
pub(super) struct Signals {
    terminate: rocket::tokio::signal::unix::Signal,
    interrupt: rocket::tokio::signal::unix::Signal,
    hang_up: rocket::tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        use rocket::tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signal {
        rocket::tokio::select! {
            _ = self.terminate.recv() => Signal::End,
            _ = self.interrupt.recv() => Signal::End,
            _ = self.hang_up.recv() => Signal::Reload,
        }
    }

    pub(super) async fn wait_for_end(&mut self) {
        while self.next().await != Signal::End {}
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> Signal {
        if rocket::tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::End
    }

    pub(super) async fn wait_for_end(&mut self) {
        self.next().await;
    }
}
