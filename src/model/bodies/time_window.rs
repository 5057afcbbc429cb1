use std::time::Duration;

use crate::model::Timestamp;

const LONGEST_WAIT: Duration = Duration::from_hours(7 * 24);

/// The allowed creation times of a report without a credential. Moves other times into the window: clocks may be wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeWindow {
    earliest: Timestamp,
    arrival: Timestamp,
}

impl TimeWindow {
    /// Creates the window, which begins when the card was created. If that time is unknown, it begins a week before arrival.
    pub(crate) fn new(arrival: Timestamp, card_made: Option<Timestamp>) -> Self {
        Self { earliest: card_made.unwrap_or_else(|| arrival.saturating_sub(LONGEST_WAIT)), arrival }
    }

    pub(crate) fn clamp(self, time: Timestamp) -> Timestamp {
        // `max` first, so that `arrival` limits the result: the service's clock can have stepped back since the card was created.
        time.max(self.earliest).min(self.arrival)
    }

    pub(crate) fn time_for_age(self, age: Duration) -> Timestamp {
        self.clamp(self.arrival.saturating_sub(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_clamped_to_the_window() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let arrival = at("2016-12-19T16:00:00Z");
        let by_link = TimeWindow::new(arrival, Some(at("2016-11-19T16:00:00Z")));
        let without = TimeWindow::new(arrival, None);
        for (window, time, expected) in [
            (by_link, "2016-12-19T15:00:00Z", "2016-12-19T15:00:00Z"),
            (by_link, "2016-11-20T00:00:00Z", "2016-11-20T00:00:00Z"),
            (by_link, "1970-01-01T00:00:00Z", "2016-11-19T16:00:00Z"),
            (by_link, "2016-12-19T23:00:00Z", "2016-12-19T16:00:00Z"),
            (without, "2016-12-13T00:00:00Z", "2016-12-13T00:00:00Z"),
            (without, "2016-11-20T00:00:00Z", "2016-12-12T16:00:00Z"),
            (without, "2099-01-01T00:00:00Z", "2016-12-19T16:00:00Z"),
        ] {
            assert_eq!(window.clamp(at(time)), at(expected), "{time}");
        }
        assert_eq!(without.time_for_age(Duration::from_mins(90)), at("2016-12-19T14:30:00Z"));
        assert_eq!(without.time_for_age(Duration::MAX), at("2016-12-12T16:00:00Z"));
        let early = TimeWindow::new(arrival, Some(at("2016-12-20T00:00:00Z")));
        assert_eq!(early.clamp(arrival), arrival);
    }
}
