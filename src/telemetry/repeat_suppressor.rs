use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The minimum time between two equal lines in the log.
const INTERVAL: Duration = Duration::from_mins(1);
/// The maximum number of tracked lines; the oldest is dropped first.
const MAX_LINES: usize = 16;

/// Admits each line to the log at most once a minute, and counts the suppressed ones, so that an outage does not fill the disk.
#[derive(Debug, Default)]
pub(crate) struct RepeatSuppressor(Mutex<Vec<Line>>);

/// A line, with the time when it was last logged, and how often it was suppressed after that.
#[derive(Debug)]
struct Line {
    text: String,
    logged: Instant,
    suppressed: u64,
}

impl RepeatSuppressor {
    /// Returns how often this line was suppressed since it was last logged; `None` if the caller must not log it now.
    pub(crate) fn admit(&self, text: &str, now: Instant) -> Option<u64> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.iter_mut().find(|line| line.text == text) {
            if now.saturating_duration_since(line.logged) < INTERVAL {
                line.suppressed += 1;
                return None;
            }
            line.logged = now;
            return Some(std::mem::take(&mut line.suppressed));
        }
        if lines.len() == MAX_LINES {
            lines.remove(0);
        }
        lines.push(Line { text: text.to_owned(), logged: now, suppressed: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_logged_once_a_minute_with_the_number_of_suppressed_ones() {
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
    fn memory_is_bounded() {
        let (repeats, now) = (RepeatSuppressor::default(), Instant::now());
        assert!((0..10 * MAX_LINES).all(|cause| repeats.admit(&cause.to_string(), now) == Some(0)));
        assert_eq!(repeats.0.lock().unwrap().len(), MAX_LINES);
    }
}
