//! A TCP link that can be cut, stalled and restored.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::io::{self, Read, Write};
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
    cut_point: Option<CutPoint>,
    /// Both ends of all connections, for `cut`.
    ends: Vec<TcpStream>,
}

/// A message of the protocol of `PostgreSQL` at which all connections are closed, once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutPoint {
    pub(crate) to_target: bool,
    /// Which message in this direction, of all connections together.
    pub(crate) number: usize,
    /// Whether this message still arrives.
    pub(crate) arrives: bool,
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

    /// Sets or removes the point of the next cut.
    pub(crate) fn cut_at(&self, point: Option<CutPoint>) {
        self.link.state.lock().unwrap().cut_point = point;
    }

    /// Whether the point of the next cut is not reached yet.
    pub(crate) fn has_cut_point(&self) -> bool {
        self.link.state.lock().unwrap().cut_point.is_some()
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
            let answers = Messages { head: Vec::new(), head_length: 5, rest: 0 };
            scope.spawn(|| self.pass([&mut responses, &mut asker], (number, &name), false, answers));
            self.wait(number, &name);
            let mut requests = Messages { head: Vec::new(), head_length: 4, rest: 0 };
            if self.forward(&mut server, &mut beginning, true, &mut requests).is_ok() {
                self.pass([&mut client, &mut server], (number, &name), true, requests);
            }
        });
    }

    fn pass(
        &self,
        [from, to]: [&mut TcpStream; 2],
        (number, name): (usize, &str),
        to_target: bool,
        mut messages: Messages,
    ) {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            self.wait(number, name);
            if self.forward(to, &mut bytes[..length], to_target, &mut messages).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    fn forward(
        &self,
        to: &mut TcpStream,
        bytes: &mut [u8],
        to_target: bool,
        messages: &mut Messages,
    ) -> io::Result<()> {
        (self.look)(to_target, bytes);
        let ends = messages.ends(bytes);
        let Some(length) = self.cut_length(to_target, &ends) else { return to.write_all(bytes) };
        let _ = to.write_all(&bytes[..length]);
        for end in self.state.lock().unwrap().ends.drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    /// Counts messages; returns how many bytes to forward before the cut if one of them is the point of the cut.
    fn cut_length(&self, to_target: bool, ends: &[usize]) -> Option<usize> {
        let mut state = self.state.lock().unwrap();
        let point = state.cut_point.as_mut().filter(|point| point.to_target == to_target)?;
        if point.number > ends.len() {
            point.number -= ends.len();
            return None;
        }
        let last = if point.arrives { point.number } else { point.number - 1 };
        state.cut_point = None;
        Some(last.checked_sub(1).map_or(0, |last| ends[last]))
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

/// Finds the messages of the protocol of `PostgreSQL` in one direction of a connection: each has a length, and a type before it,
/// except the first one of a client.
struct Messages {
    head: Vec<u8>,
    head_length: usize,
    rest: usize,
}

impl Messages {
    /// Returns where messages end in the next bytes.
    fn ends(&mut self, bytes: &[u8]) -> Vec<usize> {
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            if self.head.len() < self.head_length {
                self.head.push(bytes[at]);
                at += 1;
                let Some(length) = self.head.get(self.head_length - 4..self.head_length) else { continue };
                let length = u32::from_be_bytes(length.try_into().unwrap());
                self.rest = (length as usize).saturating_sub(4);
            } else {
                let part = self.rest.min(bytes.len() - at);
                (self.rest, at) = (self.rest - part, at + part);
            }
            if self.rest == 0 {
                ends.push(at);
                (self.head, self.head_length) = (Vec::new(), 5);
            }
        }
        ends
    }
}
