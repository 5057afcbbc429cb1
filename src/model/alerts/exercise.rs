use std::time::Duration;

use geo::{LineString, MultiPolygon, Polygon};

use super::{LogEntry, Message, MessageInForce, MessageKey, entries, find, in_force};
use crate::model::{Area, AreaId, FloodState, StateChange, Timestamp};

/// The changes in each hour: the minute, and the new state.
const CHANGES: [(u64, Option<FloodState>); 4] = [
    (0, Some(FloodState::Minor)),
    (15, Some(FloodState::Moderate)),
    (30, Some(FloodState::Severe)),
    (45, None),
];

/// A made-up flood in a made-up area that rises and ends in each hour, for testing alert hubs. The messages of an
/// hour refer only to each other; the first is an `Alert`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exercise;

impl Exercise {
    /// Returns the message of the exercise in force at `now`. The result is valid at most until the next step of the exercise.
    #[must_use]
    pub(crate) fn in_force(now: Timestamp) -> MessageInForce {
        let hour_log = hour_log(now);
        let (past, coming) = hour_log.split_at(hour_log.partition_point(|entry| entry.at <= now));
        let MessageInForce { message, changed, until } = in_force(past, now);
        let next = coming
            .first()
            .map_or_else(|| now.floor_to_hour().saturating_add(Duration::from_hours(1)), |next| next.at);
        MessageInForce { message, changed, until: until.min(next) }
    }

    #[must_use]
    pub(crate) fn find(key: MessageKey, now: Timestamp) -> Option<Message> {
        find(&hour_log(key.run), key, now).filter(|message| message.key.run <= now)
    }

    /// A square kilometre of the sea north of Jakarta.
    #[must_use]
    pub(crate) fn area() -> Area {
        let (west, south, side) = (106.80, -6.05, 0.009);
        let (east, north) = (west + side, south + side);
        let ring = vec![(west, south), (east, south), (east, north), (west, north), (west, south)];
        Area {
            id: AreaId::EXERCISE,
            geom_id: "exercise".to_owned(),
            name: "Latihan / Exercise".to_owned(),
            parent_name: "Teluk Jakarta".to_owned(),
            city_name: String::new(),
            city_code: String::new(),
            region_code: String::new(),
            attributes: None,
            outline: MultiPolygon::new(vec![Polygon::new(LineString::from(ring), Vec::new())]),
        }
    }
}

fn hour_log(moment: Timestamp) -> Vec<LogEntry> {
    let begins = moment.floor_to_hour();
    entries(
        CHANGES.map(|(minute, state)| StateChange {
            state,
            at: begins.saturating_add(Duration::from_mins(minute)),
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::super::MessageType::{self, Alert, Cancel, Update};
    use super::*;

    #[test]
    fn each_hour_begins_with_an_alert_and_ends_with_a_cancel() {
        let start = Timestamp::parse("2026-01-01T07:00:00Z").unwrap();
        let at = |minute| start.saturating_add(Duration::from_mins(minute));
        let expected: [(u64, MessageType, usize, u64); 6] = [
            (0, Alert, 0, 15),
            (14, Alert, 0, 15),
            (15, Update, 1, 30),
            (30, Update, 2, 45),
            (45, Cancel, 3, 60),
            (60, Alert, 0, 75),
        ];
        for (minute, message_type, references, until) in expected {
            let found = Exercise::in_force(at(minute));
            let message = found.message.unwrap();
            let shown = (message.message_type, message.references.len(), found.until);
            assert_eq!(shown, (message_type, references, at(until)), "{minute}");
            assert_eq!(Exercise::find(message.key, at(600)), Some(message), "{minute}");
        }
        let coming = MessageKey { run: at(60), renewal: 0 };
        assert_eq!(Exercise::find(coming, at(59)), None);
        assert_eq!(Exercise::find(MessageKey { run: at(7), renewal: 0 }, at(600)), None);
    }
}
