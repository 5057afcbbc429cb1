use std::time::{Duration, Instant};

/// Returns what is known if it is younger than `max_age`, else what `look` finds, each with when it was found. Its age counts
/// from the end of the look, which can take longer than `max_age`.
pub(super) async fn recent<T>(
    known: Option<(Instant, T)>,
    max_age: Duration,
    look: impl Future<Output = T>,
) -> (Instant, T) {
    if let Some(known) = known.filter(|(at, _)| at.elapsed() < max_age) {
        return known;
    }
    let found = look.await;
    (Instant::now(), found)
}
