//! What follows a try, as a function of what came back: nothing here waits or knows the time.

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
pub(super) enum Next {
    /// The receiver has it.
    Done,
    /// Try again after this time.
    Again(Duration),
    /// The receiver will never take this event: go on with the next one.
    Skip,
    /// The receiver wants no more events.
    Off,
}

/// The waits after the first tries, and after each further one.
const WAITS: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];
const LATER: Duration = Duration::from_mins(5);
/// How often an event is tried that the receiver refuses.
const REFUSED: u32 = 3;
/// How long a receiver can ask to wait.
const LONGEST: Duration = Duration::from_hours(1);

/// Returns what to do after an event was tried `tries` times, by the outcome of the last try.
pub(super) fn next(tries: u32, outcome: &Outcome) -> Next {
    let wait = WAITS.get(tries.saturating_sub(1) as usize).copied().unwrap_or(LATER);
    match *outcome {
        Outcome::Response { status: 200..=299, .. } => Next::Done,
        Outcome::Response { status: 410, .. } => Next::Off,
        Outcome::Response { status, .. } if is_refusal(status) && tries >= REFUSED => Next::Skip,
        Outcome::Response { status, .. } if is_refusal(status) => Next::Again(wait),
        Outcome::Response { retry_after, .. } => {
            Next::Again(wait.max(retry_after.unwrap_or_default().min(LONGEST)))
        }
        Outcome::Failed(_) => Next::Again(wait),
    }
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

    #[test]
    fn a_receiver_that_is_away_is_tried_less_and_less_often() {
        let waits: Vec<_> = (1..=6)
            .map(|tries| match next(tries, &Outcome::Failed("refused".to_owned())) {
                Next::Again(wait) => wait.as_secs(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(waits, [5, 30, 120, 300, 300, 300]);
        for code in [100, 301, 302, 408, 425, 429, 500, 503] {
            assert_eq!(next(9, &status(code)), Next::Again(LATER), "{code}");
        }
    }

    #[test]
    fn an_event_that_is_refused_is_tried_three_times_within_a_minute() {
        for code in [400, 401, 403, 404, 413, 422] {
            let all = [1, 2, 3].map(|tries| next(tries, &status(code)));
            assert_eq!(all, [Next::Again(WAITS[0]), Next::Again(WAITS[1]), Next::Skip], "{code}");
        }
        assert!(WAITS[0] + WAITS[1] < Duration::from_mins(1));
    }

    #[test]
    fn success_ends_and_gone_switches_off_and_a_receiver_may_ask_for_time() {
        assert_eq!([200, 204, 299].map(|code| next(1, &status(code))), [Next::Done; 3]);
        assert_eq!(next(1, &status(410)), Next::Off);
        let asking = |wait| Outcome::Response { status: 503, retry_after: Some(wait) };
        assert_eq!(next(1, &asking(Duration::from_mins(1))), Next::Again(Duration::from_mins(1)));
        assert_eq!(next(1, &asking(Duration::from_secs(1))), Next::Again(WAITS[0]));
        assert_eq!(next(1, &asking(Duration::MAX)), Next::Again(LONGEST));
    }
}
