//! Retry policy: a pure function from the number of attempts and their outcome to the next step.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A response, and the delay of its `Retry-After`.
    Response {
        status: u16,
        retry_after: Option<Duration>,
    },
    Failed(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Accepted (2xx).
    Done,
    Retry(Duration),
    /// The receiver rejects this event: continue with the next one.
    Discard,
    /// The receiver wants no more events (410).
    Disable,
}

/// The waits after the first failures. Later waits are `MAX_BACKOFF`.
const BACKOFF: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];
const MAX_BACKOFF: Duration = Duration::from_mins(5);
/// The number of attempts for an event that the receiver rejects.
const MAX_REJECTIONS: u32 = 3;
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Returns the next step after `attempts` attempts for the event, and `failures` failed requests in a row.
pub(super) fn next_step(id: &str, attempts: u32, failures: u32, outcome: &Outcome) -> NextStep {
    let wait = BACKOFF.get(failures.saturating_sub(1) as usize).copied().unwrap_or(MAX_BACKOFF);
    let wait = wait + jitter(wait, id, failures);
    match *outcome {
        Outcome::Response { status: 200..=299, .. } => NextStep::Done,
        Outcome::Response { status: 410, .. } => NextStep::Disable,
        Outcome::Response { status, .. } if is_rejection(status) && attempts >= MAX_REJECTIONS => {
            NextStep::Discard
        }
        Outcome::Response { status, .. } if is_rejection(status) => NextStep::Retry(wait),
        Outcome::Response { retry_after, .. } => {
            NextStep::Retry(wait.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER)))
        }
        Outcome::Failed(_) => NextStep::Retry(wait),
    }
}

/// Returns up to a quarter of `wait`, to add to it. Depends on the event's identifier, so that webhooks retry at different times.
fn jitter(wait: Duration, id: &str, failures: u32) -> Duration {
    let hash = blake3::hash(format!("{id} {failures}").as_bytes());
    wait * u32::from(hash.as_bytes()[0]) / (4 * u32::from(u8::MAX))
}

/// Whether the status rejects the event, as opposed to a problem of the receiver.
fn is_rejection(status: u16) -> bool {
    (400..=499).contains(&status) && !matches!(status, 408 | 425 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> Outcome {
        Outcome::Response { status, retry_after: None }
    }

    fn assert_waits(next: NextStep, shortest: Duration) {
        let NextStep::Retry(wait) = next else { panic!("{next:?}") };
        assert!(wait >= shortest && wait <= shortest * 5 / 4, "{wait:?} is not about {shortest:?}");
    }

    #[test]
    fn waits_grow_while_the_receiver_is_unreachable() {
        for (failures, seconds) in (1..).zip([5, 30, 120, 300, 300, 300]) {
            let away = Outcome::Failed("refused".to_owned());
            assert_waits(next_step("msg_1", failures, failures, &away), Duration::from_secs(seconds));
        }
        for code in [100, 301, 302, 408, 425, 429, 500, 503] {
            assert_waits(next_step("msg_1", 9, 9, &status(code)), MAX_BACKOFF);
        }
    }

    #[test]
    fn retries_of_many_webhooks_are_spread() {
        let wait = |id: &str| match next_step(id, 4, 4, &status(503)) {
            NextStep::Retry(wait) => wait,
            other => panic!("{other:?}"),
        };
        let waits: std::collections::BTreeSet<_> =
            (0..50).map(|webhook| wait(&format!("msg_{webhook}"))).collect();
        assert!(waits.len() > 30, "{waits:?}");
        assert!(waits.last().unwrap().saturating_sub(*waits.first().unwrap()) > MAX_BACKOFF / 8, "{waits:?}");
    }

    #[test]
    fn a_rejected_event_is_attempted_three_times_within_a_minute() {
        for code in [400, 401, 403, 404, 413, 422] {
            assert_waits(next_step("msg_1", 1, 1, &status(code)), BACKOFF[0]);
            assert_waits(next_step("msg_1", 2, 2, &status(code)), BACKOFF[1]);
            assert_eq!(next_step("msg_1", 3, 3, &status(code)), NextStep::Discard, "{code}");
            assert_waits(next_step("msg_2", 1, 3, &status(code)), BACKOFF[2]);
        }
        assert!((BACKOFF[0] + BACKOFF[1]) * 5 / 4 < Duration::from_mins(1));
    }

    #[test]
    fn success_ends_gone_disables_and_retry_after_is_respected() {
        assert_eq!([200, 204, 299].map(|code| next_step("", 1, 1, &status(code))), [NextStep::Done; 3]);
        assert_eq!(next_step("", 1, 1, &status(410)), NextStep::Disable);
        let unavailable = |wait| Outcome::Response { status: 503, retry_after: Some(wait) };
        let minute = Duration::from_mins(1);
        assert_eq!(next_step("", 1, 1, &unavailable(minute)), NextStep::Retry(minute));
        assert_waits(next_step("", 1, 1, &unavailable(Duration::from_secs(1))), BACKOFF[0]);
        assert_eq!(next_step("", 1, 1, &unavailable(Duration::MAX)), NextStep::Retry(MAX_RETRY_AFTER));
    }
}
