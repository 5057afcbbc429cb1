//! Polls for conditions.

#![allow(dead_code, reason = "few test targets wait in both ways")]

use std::env;
use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

/// The limit of waits whose duration is not under test: generous, for busy machines.
pub(crate) const LONG: Duration = Duration::from_secs(30);
/// The environment variable that multiplies each limit of wall-clock time in tests, such as `3` on a machine that is busy with
/// other work.
const PATIENCE: &str = "TEST_PATIENCE";
/// The pause between two polls.
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

/// Polls until a value is as expected, and returns it.
///
/// Panics with `condition` and the last value if a poll that begins after `limit` fails too. The duration of a single poll does
/// not count.
pub(crate) async fn eventually<T: Debug>(
    condition: &str,
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
        assert!(!is_last, "not within {limit:?}: {condition}; seen: {seen:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same on a thread that may block.
#[track_caller]
pub(crate) fn eventually_blocking<T: Debug>(
    condition: &str,
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
        assert!(!is_last, "not within {limit:?}: {condition}; seen: {seen:?}");
        thread::sleep(PAUSE);
    }
}
