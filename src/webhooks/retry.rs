//! Retry policy: a pure function from the number of tries and their outcome to the next step.

use std::time::Duration;

/// What came back of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A response, with the duration of its header `Retry-After`.
    Response { status: u16, retry_after: Option<Duration> },
    /// No response; why.
    Failed(String),
}

/// What to do after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// The receiver has it.
    Done,
    /// Try again after this time.
    Retry(Duration),
    /// The receiver will never take this event: go on with the next one.
    Discard,
    /// The receiver wants no more events.
    Disable,
}

/// The waits after the first tries, and after each further one.
const WAITS: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];
const LATER: Duration = Duration::from_mins(5);
/// How often an event is tried that the receiver refuses.
const REFUSED: u32 = 3;
/// How long a receiver can ask to wait.
const LONGEST: Duration = Duration::from_hours(1);

/// Returns what to do after the event with this identifier was tried `tries` times, and the receiver has taken none of the last
/// `failures` requests, by the outcome of the last one.
pub(super) fn next_step(id: &str, tries: u32, failures: u32, outcome: &Outcome) -> NextStep {
    let wait = WAITS.get(failures.saturating_sub(1) as usize).copied().unwrap_or(LATER);
    let wait = wait + jitter(wait, id, failures);
    match *outcome {
        Outcome::Response { status: 200..=299, .. } => NextStep::Done,
        Outcome::Response { status: 410, .. } => NextStep::Disable,
        Outcome::Response { status, .. } if is_refusal(status) && tries >= REFUSED => NextStep::Discard,
        Outcome::Response { status, .. } if is_refusal(status) => NextStep::Retry(wait),
        Outcome::Response { retry_after, .. } => {
            NextStep::Retry(wait.max(retry_after.unwrap_or_default().min(LONGEST)))
        }
        Outcome::Failed(_) => NextStep::Retry(wait),
    }
}

/// Returns up to a quarter of a wait, which differs from event to event, so that many calls to one receiver do not arrive together
/// when it is back. An event has an identifier of its own in each call.
fn jitter(wait: Duration, id: &str, failures: u32) -> Duration {
    let hash = blake3::hash(format!("{id} {failures}").as_bytes());
    wait * u32::from(hash.as_bytes()[0]) / (4 * u32::from(u8::MAX))
}

/// Returns whether a status is about the event rather than about the receiver.
fn is_refusal(status: u16) -> bool {
    (400..=499).contains(&status) && !matches!(status, 408 | 425 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> Outcome {
        Outcome::Response { status, retry_after: None }
    }

    /// Asserts that the event is tried again after a wait of at least `shortest`, and at most a quarter longer.
    fn assert_waits(next: NextStep, shortest: Duration) {
        let NextStep::Retry(wait) = next else { panic!("{next:?}") };
        assert!(wait >= shortest && wait <= shortest * 5 / 4, "{wait:?} is not about {shortest:?}");
    }

    #[test]
    fn a_receiver_that_is_away_is_tried_less_and_less_often() {
        for (failures, seconds) in (1..).zip([5, 30, 120, 300, 300, 300]) {
            let away = Outcome::Failed("refused".to_owned());
            assert_waits(next_step("msg_1", failures, failures, &away), Duration::from_secs(seconds));
        }
        for code in [100, 301, 302, 408, 425, 429, 500, 503] {
            assert_waits(next_step("msg_1", 9, 9, &status(code)), LATER);
        }
    }

    #[test]
    fn events_of_many_calls_are_not_tried_again_together() {
        let wait = |id: &str| match next_step(id, 4, 4, &status(503)) {
            NextStep::Retry(wait) => wait,
            other => panic!("{other:?}"),
        };
        let waits: std::collections::BTreeSet<_> = (0..50).map(|call| wait(&format!("msg_{call}"))).collect();
        assert!(waits.len() > 30, "{waits:?}");
        assert!(waits.last().unwrap().saturating_sub(*waits.first().unwrap()) > LATER / 8, "{waits:?}");
    }

    #[test]
    fn an_event_that_is_refused_is_tried_three_times_within_a_minute() {
        for code in [400, 401, 403, 404, 413, 422] {
            assert_waits(next_step("msg_1", 1, 1, &status(code)), WAITS[0]);
            assert_waits(next_step("msg_1", 2, 2, &status(code)), WAITS[1]);
            assert_eq!(next_step("msg_1", 3, 3, &status(code)), NextStep::Discard, "{code}");
            assert_waits(next_step("msg_2", 1, 3, &status(code)), WAITS[2]);
        }
        assert!((WAITS[0] + WAITS[1]) * 5 / 4 < Duration::from_mins(1));
    }

    #[test]
    fn success_ends_and_gone_switches_off_and_a_receiver_may_ask_for_time() {
        assert_eq!([200, 204, 299].map(|code| next_step("", 1, 1, &status(code))), [NextStep::Done; 3]);
        assert_eq!(next_step("", 1, 1, &status(410)), NextStep::Disable);
        let asking = |wait| Outcome::Response { status: 503, retry_after: Some(wait) };
        let minute = Duration::from_mins(1);
        assert_eq!(next_step("", 1, 1, &asking(minute)), NextStep::Retry(minute));
        assert_waits(next_step("", 1, 1, &asking(Duration::from_secs(1))), WAITS[0]);
        assert_eq!(next_step("", 1, 1, &asking(Duration::MAX)), NextStep::Retry(LONGEST));
    }
}
