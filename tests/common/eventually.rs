//! Waiting for what a test cannot be told of.

#![allow(dead_code, reason = "few test targets wait in both ways")]

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what has no limit of its own: far longer than it ever takes, on a machine with much to do.
pub(crate) const LONG: Duration = Duration::from_secs(30);
/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks again and again until it sees what is expected; returns that. Panics with `what` was expected, and what is seen
/// instead, if that is not seen by a look that begins after `limit`: how long the look itself takes does not count.
pub(crate) async fn eventually<T: Debug>(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> T,
    is_expected: impl Fn(&T) -> bool,
) -> T {
    let since = Instant::now();
    loop {
        let is_last = since.elapsed() >= limit;
        let seen = look().await;
        if is_expected(&seen) {
            return seen;
        }
        assert!(!is_last, "not within {limit:?}: {what}; seen: {seen:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Does the same on a thread of its own.
#[track_caller]
pub(crate) fn eventually_blocking<T: Debug>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> T,
    is_expected: impl Fn(&T) -> bool,
) -> T {
    let since = Instant::now();
    loop {
        let is_last = since.elapsed() >= limit;
        let seen = look();
        if is_expected(&seen) {
            return seen;
        }
        assert!(!is_last, "not within {limit:?}: {what}; seen: {seen:?}");
        thread::sleep(PAUSE);
    }
}
