use std::time::{Duration, Instant};

/// What is known, while it lasts, or is found now. It lasts from when it was found: a look can take longer than that.
pub(super) async fn lasting<T>(
    known: Option<(Instant, T)>,
    duration: Duration,
    look: impl Future<Output = T>,
) -> (Instant, T) {
    if let Some(known) = known.filter(|(at, _)| at.elapsed() < duration) {
        return known;
    }
    let found = look.await;
    (Instant::now(), found)
}
