//! Free ports.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// How many ports were tried in this process.
static TRIED: AtomicU16 = AtomicU16::new(0);

/// Returns a port on which nothing listens. No other program can take it first: it is outside the ephemeral range
/// (32,768 and above), each test gets another one, and processes search in separate ranges.
pub(crate) fn free_port() -> u16 {
    let place = u16::try_from(std::process::id() % 200).unwrap() * 100;
    (0..100)
        .map(|_| 11_000 + place + TRIED.fetch_add(1, Ordering::Relaxed) % 100)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("one of a hundred ports is free")
}
