use std::time::Duration;

use crate::model::{Period, Timestamp, Validity};

/// A span of time to query. No window includes the future: what is dated after now appears once its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From this long ago until now.
    Last(Duration),
    /// A period, up to now.
    Within(Period),
}

impl Window {
    /// Returns the first and the last moment of the window at `now`, both included. The last may be before the first.
    #[must_use]
    pub fn bounds(self, now: Timestamp) -> (Timestamp, Timestamp) {
        match self {
            Self::Last(duration) => (now.before(duration), now),
            Self::Within(period) => (period.start(), period.end().min(now)),
        }
    }

    /// Returns how long a result stays valid, if it is about this window and was read at `now`.
    ///
    /// `oldest` is the oldest item of the result, which leaves a moving window first. `next` is the first item dated
    /// after the window's last moment at `now`, in the result's resource or in any part of it that contains the result:
    /// items that the query does not select can make the validity shorter, never longer. A result that lies wholly in
    /// the past stays valid, unless the clock steps back.
    #[must_use]
    pub fn validity(self, now: Timestamp, oldest: Option<Timestamp>, next: Option<Timestamp>) -> Validity {
        /// A window includes its last moment, so an item is outside from the next millisecond on.
        const NEXT: Duration = Duration::from_millis(1);
        let (from, change) = match self {
            Self::Last(duration) => {
                let leaves = oldest.map(|oldest| oldest.after(duration).after(NEXT));
                (now, leaves.into_iter().chain(next).min())
            }
            Self::Within(period) => (now.min(period.end()), next.filter(|next| *next <= period.end())),
        };
        Validity::Between { from, until: change.unwrap_or(Timestamp::LAST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn at(minute: u32) -> Timestamp {
        Timestamp::parse(&format!("2017-01-01T00:{minute:02}:00Z")).unwrap()
    }

    fn until(moment: Timestamp) -> Validity {
        Validity::Between { from: at(30), until: moment }
    }

    fn within(start: u32, end: u32) -> Window {
        Window::Within(Period::new(at(start), at(end), HOUR).unwrap())
    }

    #[test]
    fn an_answer_of_the_last_hour_lasts_until_the_oldest_leaves_or_the_next_comes() {
        let oldest = at(10);
        let leaves = oldest.after(HOUR).after(Duration::from_millis(1));
        let hour = Window::Last(HOUR);
        assert_eq!(hour.validity(at(30), Some(oldest), None), until(leaves));
        assert_eq!(hour.validity(at(30), Some(oldest), Some(at(40))), until(at(40)));
        assert_eq!(hour.validity(at(30), Some(oldest), Some(leaves.after(HOUR))), until(leaves));
        assert_eq!(hour.validity(at(30), None, Some(at(40))), until(at(40)));
        assert_eq!(hour.validity(at(30), None, None), until(Timestamp::LAST));
    }

    #[test]
    fn the_oldest_leaves_the_window_just_when_the_answer_ends() {
        let hour = Window::Last(HOUR);
        let Validity::Between { until, .. } = hour.validity(at(30), Some(at(10)), None) else {
            panic!("a span")
        };
        assert!(hour.bounds(until.before(Duration::from_millis(1))).0 <= at(10));
        assert!(hour.bounds(until).0 > at(10));
    }

    #[test]
    fn an_answer_about_a_period_changes_by_what_comes_within_it_alone() {
        assert_eq!(within(0, 50).validity(at(30), Some(at(10)), Some(at(50))), until(at(50)));
        assert_eq!(within(0, 50).validity(at(30), Some(at(10)), Some(at(51))), until(Timestamp::LAST));
        assert_eq!(within(40, 50).validity(at(30), None, None), until(Timestamp::LAST));
        let past = Validity::Between { from: at(20), until: Timestamp::LAST };
        assert_eq!(within(0, 20).validity(at(30), Some(at(10)), Some(at(21))), past);
    }

    #[test]
    fn a_window_longer_than_time_is_never_left() {
        let ever = Window::Last(Duration::MAX).validity(at(30), Some(at(10)), None);
        assert_eq!(ever, until(Timestamp::LAST));
    }
}
