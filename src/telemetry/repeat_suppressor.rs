use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the same line is logged.
const EVERY: Duration = Duration::from_mins(1);
/// How many lines are told apart. More are those of outages with many causes, of which the oldest is forgotten.
const MOST: usize = 16;

/// Lets each line of the log through once a minute, and counts how often it was held back. So an outage does not fill a disk
/// with one line for each request.
#[derive(Debug, Default)]
pub(crate) struct RepeatSuppressor(Mutex<Vec<Line>>);

#[derive(Debug)]
struct Line {
    text: String,
    logged: Instant,
    held_back: u64,
}

impl RepeatSuppressor {
    /// Returns how often this line was held back since it was logged, if it is to be logged now.
    pub(crate) fn admit(&self, text: &str, now: Instant) -> Option<u64> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.iter_mut().find(|line| line.text == text) {
            if now.saturating_duration_since(line.logged) < EVERY {
                line.held_back += 1;
                return None;
            }
            line.logged = now;
            return Some(std::mem::take(&mut line.held_back));
        }
        if lines.len() == MOST {
            lines.remove(0);
        }
        lines.push(Line { text: text.to_owned(), logged: now, held_back: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_logged_once_a_minute_with_the_number_of_those_held_back() {
        let (repeats, start) = (RepeatSuppressor::default(), Instant::now());
        let admit = |text: &str, seconds| repeats.admit(text, start + Duration::from_secs(seconds));
        assert_eq!(admit("the disk is full", 0), Some(0));
        assert_eq!(admit("the disk is full", 1), None);
        assert_eq!(admit("the disk is full", 59), None);
        assert_eq!(admit("another cause", 59), Some(0));
        assert_eq!(admit("the disk is full", 60), Some(2));
        assert_eq!(admit("the disk is full", 120), Some(0));
    }

    #[test]
    fn any_number_of_causes_takes_bounded_memory() {
        let (repeats, now) = (RepeatSuppressor::default(), Instant::now());
        assert!((0..10 * MOST).all(|cause| repeats.admit(&cause.to_string(), now) == Some(0)));
        assert_eq!(repeats.0.lock().unwrap().len(), MOST);
    }
}
