//! A TCP link that can be cut, stalled and restored.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Inspects and may change the bytes in each direction (`true`: to the target).
type Inspect = dyn Fn(bool, &mut [u8]) + Send + Sync;

/// A TCP proxy before a database or a service.
pub(crate) struct Proxy {
    address: SocketAddr,
    link: Arc<Link>,
}

struct Link {
    target: String,
    state: Mutex<State>,
    changed: Condvar,
    look: Box<Inspect>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether existing and new connections are closed.
    is_cut: bool,
    /// Stalls the connections whose first bytes contain this text.
    stalled: Option<String>,
    /// The number of connections so far, and how many of the first are stalled for good.
    count: usize,
    abandoned: usize,
    /// Both ends of all connections, for `cut`.
    ends: Vec<TcpStream>,
}

impl Proxy {
    pub(crate) fn before(url: &str) -> Self {
        Self::before_authority(url.split('@').nth(1).unwrap().split('/').next().unwrap())
    }

    pub(crate) fn before_authority(target: &str) -> Self {
        Self::inspecting(target, |_, _| ())
    }

    /// The same, with an inspector of all bytes.
    pub(crate) fn inspecting(target: &str, look: impl Fn(bool, &mut [u8]) + Send + Sync + 'static) -> Self {
        let target = target.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let link =
            Arc::new(Link { target, state: Mutex::default(), changed: Condvar::new(), look: Box::new(look) });
        let accepting = Arc::clone(&link);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let link = Arc::clone(&accepting);
                thread::spawn(move || link.serve(client));
            }
        });
        Self { address, link }
    }

    /// The URL of a database through the proxy.
    pub(crate) fn through(&self, url: &str) -> String {
        // Without TLS, so that the first bytes name the application.
        url.replace(&self.link.target, &self.address.to_string()) + "?sslmode=disable"
    }

    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Closes all existing and new connections.
    pub(crate) fn cut(&self) {
        let mut state = self.link.state.lock().unwrap();
        state.is_cut = true;
        for end in state.ends.drain(..) {
            // It may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
        self.link.changed.notify_all();
    }

    /// Stalls all connections.
    pub(crate) fn stall(&self) {
        self.stall_matching("");
    }

    /// Stalls the connections whose first bytes contain a text, such as an application name.
    pub(crate) fn stall_matching(&self, text: &str) {
        self.link.state.lock().unwrap().stalled = Some(text.to_owned());
    }

    /// Stalls the existing connections for good, and forwards new ones.
    pub(crate) fn abandon(&self) {
        let mut state = self.link.state.lock().unwrap();
        state.abandoned = state.count;
    }

    /// Forwards again, stalled bytes first.
    pub(crate) fn restore(&self) {
        let mut state = self.link.state.lock().unwrap();
        state.is_cut = false;
        state.stalled = None;
        self.link.changed.notify_all();
    }
}

impl Link {
    fn serve(&self, mut client: TcpStream) {
        let Ok(mut server) = TcpStream::connect(&self.target) else { return };
        let mut beginning = vec![0; 4096];
        let Ok(length) = client.read(&mut beginning) else { return };
        beginning.truncate(length);
        let number = {
            let mut state = self.state.lock().unwrap();
            if state.is_cut {
                return;
            }
            state.count += 1;
            state.ends.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
            state.count
        };
        let (mut responses, mut asker) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let name = String::from_utf8_lossy(&beginning).into_owned();
        thread::scope(|scope| {
            scope.spawn(|| self.pass(false, [&mut responses, &mut asker], number, &name));
            self.wait(number, &name);
            (self.look)(true, &mut beginning);
            if server.write_all(&beginning).is_ok() {
                self.pass(true, [&mut client, &mut server], number, &name);
            }
        });
    }

    fn pass(&self, to_target: bool, [from, to]: [&mut TcpStream; 2], number: usize, name: &str) {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            self.wait(number, name);
            (self.look)(to_target, &mut bytes[..length]);
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Waits while the connection with these first bytes is stalled.
    fn wait(&self, number: usize, name: &str) {
        let mut state = self.state.lock().unwrap();
        let is_stalled = |state: &State| {
            number <= state.abandoned || state.stalled.as_ref().is_some_and(|text| name.contains(text))
        };
        while !state.is_cut && is_stalled(&state) {
            state = self.changed.wait(state).unwrap();
        }
    }
}
