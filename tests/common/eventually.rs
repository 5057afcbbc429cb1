//! Waits for conditions that nothing announces.

#![allow(dead_code, reason = "few test targets wait in both ways")]

use std::env;
use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits if no limit is part of what it tests: far longer than it takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);
/// The environment variable that multiplies each limit of wall-clock time in tests, such as `3` on a machine that is busy with
/// other work.
const PATIENCE: &str = "TEST_PATIENCE";
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Returns a limit of wall-clock time for this machine.
///
/// # Panics
///
/// If the environment has a factor that is not a number of at least 1.
pub(crate) fn patiently(limit: Duration) -> Duration {
    let factor = env::var(PATIENCE).map_or(1.0, |factor| factor.parse().unwrap_or(0.0));
    assert!(factor >= 1.0, "{PATIENCE} must be a number of at least 1");
    limit.mul_f64(factor)
}

/// Looks again and again until it sees what is expected, and returns that.
///
/// Panics with `what` was expected and what was seen last, if a look that begins after `limit` does not see it either. How
/// long a look takes does not count.
pub(crate) async fn eventually<T: Debug>(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> T,
    is_expected: impl Fn(&T) -> bool,
) -> T {
    let (limit, since) = (patiently(limit), Instant::now());
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

/// Does the same on a thread that may block.
#[track_caller]
pub(crate) fn eventually_blocking<T: Debug>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> T,
    is_expected: impl Fn(&T) -> bool,
) -> T {
    let (limit, since) = (patiently(limit), Instant::now());
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
