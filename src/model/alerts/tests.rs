use std::time::Duration;

use super::MessageType::{self, Alert, Cancel, Update};
use super::{LogEntry, entries, find, in_force, messages};
use crate::model::{FloodState, StateChange, Timestamp};

pub(super) fn start() -> Timestamp {
    Timestamp::parse("2017-02-21T00:00:00Z").unwrap()
}

pub(super) fn after(milliseconds: u64) -> Timestamp {
    start().saturating_add(Duration::from_millis(milliseconds))
}

fn at(text: &str) -> Timestamp {
    let parts: Vec<u64> = text.split(':').map(|part| part.parse().unwrap()).collect();
    after(1000 * parts.into_iter().chain([0, 0]).take(3).fold(0, |sum, part| sum * 60 + part))
}

pub(super) fn change(at: Timestamp, code: u64) -> StateChange {
    StateChange { at, state: FloodState::try_from(code).ok() }
}

/// Returns all messages of a log: type, time of sending, numbers of the references (from 1), time of expiry.
fn chain(log: &[StateChange], until: Timestamp) -> Vec<(MessageType, Timestamp, Vec<usize>, Timestamp)> {
    let all =
        messages(&entries(log.iter().copied()), start().saturating_sub(Duration::from_millis(1)), until);
    let number = |key| all.iter().position(|message| message.key == key).unwrap() + 1;
    let shown = all.iter().map(|message| {
        let references = message.references.iter().map(|reference| number(reference.key)).collect();
        (message.message_type, message.sent, references, message.expires)
    });
    shown.collect()
}

#[test]
fn a_flood_that_comes_back_refers_to_no_message_that_was_cancelled() {
    let log = [("0:00", 2), ("1:00:00", 0), ("1:00:05", 2), ("2:00", 3), ("3:00", 0)];
    let log = log.map(|(time, code)| change(at(time), code));
    assert_eq!(
        chain(&log, at("30:00")),
        [
            (Alert, at("0:00"), vec![], at("6:00")),
            (Cancel, at("1:00"), vec![1], at("6:00")),
            (Alert, at("1:00:05"), vec![], at("7:00:05")),
            (Update, at("2:00"), vec![3], at("8:00")),
            (Cancel, at("3:00"), vec![3, 4], at("8:00")),
        ]
    );
}

/// A log with undone changes: time, state, and the time of the change that this one undoes.
fn undoing(log: &[(&str, u64, Option<&str>)]) -> Vec<LogEntry> {
    let mut entries: Vec<LogEntry> = Vec::new();
    for (time, code, undone) in log {
        let (made, previous) = (change(at(time), *code), entries.last());
        let entry = match undone {
            Some(undone) => {
                let restored = entries.iter().rev().find(|entry| entry.at < at(undone));
                LogEntry::restoring(made, made.at, restored, previous)
            }
            None => LogEntry::following(made, made.at, previous),
        };
        entries.push(entry);
    }
    entries
}

#[test]
fn undoing_an_all_clear_sends_a_new_alert_unless_nobody_has_confirmed_the_state_for_a_day() {
    let log = [("0:00", 2, None), ("3:00", 0, None), ("4:00", 2, Some("3:00"))];
    let entries = undoing(&log);
    let message = in_force(&entries, at("4:00")).message.unwrap();
    assert_eq!((message.message_type, message.sent, message.references.len()), (Alert, at("4:00"), 0));
    assert_eq!(message.last_confirmed, at("0:00"));
    assert!(in_force(&entries, at("20:00")).message.is_some());
    assert_eq!(in_force(&entries, at("31:00")).message, None);

    let log = [("0:00", 2, None), ("30:00", 0, None), ("31:00", 2, Some("30:00")), ("32:00", 2, None)];
    let entries = undoing(&log);
    assert_eq!(in_force(&entries[..3], at("31:00")).message, None, "nobody had confirmed it for 31 hours");
    let message = in_force(&entries, at("32:00")).message.unwrap();
    assert_eq!((message.message_type, message.sent), (Alert, at("32:00")), "somebody has confirmed it");
}

#[test]
fn undoing_a_change_of_a_state_that_nobody_confirms_cancels_its_alert() {
    let log = [("0:00", 2, None), ("30:00", 4, None), ("31:00", 2, Some("30:00"))];
    let message = in_force(&undoing(&log), at("31:00")).message.unwrap();
    assert_eq!((message.message_type, message.references.len()), (Cancel, 1));
    let log = [("0:00", 2, None), ("30:00", 2, None), ("31:00", 2, Some("30:00"))];
    let message = in_force(&undoing(&log), at("31:00")).message.unwrap();
    assert_eq!((message.message_type, message.references.len()), (Cancel, 1));
    // Within a day of the previous confirmation, undoing a confirmation changes no message.
    let log = [("0:00", 2, None), ("3:00", 2, None), ("4:00", 2, Some("3:00"))];
    let message = in_force(&undoing(&log), at("4:00")).message.unwrap();
    assert_eq!((message.message_type, message.sent), (Alert, at("0:00")));
}

#[test]
fn a_change_ahead_of_the_clock_has_its_alert_at_once_and_the_next_one_replaces_it() {
    let ahead = LogEntry::following(change(at("2:00"), 2), at("2:00"), None);
    let message = in_force(&[ahead], at("0:10")).message.unwrap();
    assert_eq!((message.message_type, message.sent, message.key.run), (Alert, at("2:00"), at("2:00")));
    let next = LogEntry::following(change(after(7_200_001), 4), at("0:20"), Some(&ahead));
    let log = [ahead, next];
    let found = in_force(&log, at("0:20"));
    let message = found.message.unwrap();
    assert_eq!((message.message_type, message.sent, message.expires), (Update, at("0:20"), at("8:00")));
    assert_eq!(message.references.len(), 1);
    assert_eq!(find(&log, message.key, at("0:20")), Some(message.clone()));
    assert_eq!(in_force(&log, found.until.saturating_sub(Duration::from_millis(1))).message, Some(message));
    let cleared = LogEntry::following(change(after(7_200_002), 0), at("0:30"), Some(&next));
    let message = in_force(&[ahead, next, cleared], at("0:30")).message.unwrap();
    assert_eq!((message.message_type, message.sent, message.references.len()), (Cancel, at("0:30"), 2));
}

#[test]
fn a_state_that_nobody_confirms_is_renewed_for_a_day() {
    let log = [change(at("0:00"), 2), change(at("25:30"), 2)];
    let expected = [
        (Alert, at("0:00"), vec![], at("6:00")),
        (Update, at("5:00"), vec![1], at("11:00")),
        (Update, at("10:00"), vec![2], at("16:00")),
        (Update, at("15:00"), vec![3], at("21:00")),
        (Update, at("20:00"), vec![4], at("26:00")),
    ];
    let messages = chain(&log, at("26:00"));
    assert_eq!(messages[..5], expected);
    assert_eq!(messages[5..], [(Update, at("25:30"), vec![5], at("31:30"))]);

    let later = [change(at("0:00"), 2), change(at("26:30"), 2)];
    let messages = chain(&later, at("27:00"));
    assert_eq!(messages[..5], expected);
    assert_eq!(messages[5..], [(Alert, at("26:30"), vec![], at("32:30"))]);

    let confirmed = [change(at("0:00"), 2), change(at("1:00"), 2)];
    let sent: Vec<_> = chain(&confirmed, at("60:00")).into_iter().map(|(_, sent, ..)| sent).collect();
    assert_eq!(sent, ["0:00", "5:00", "10:00", "15:00", "20:00", "25:00"].map(at));
}

#[test]
fn changes_within_a_second_are_messages_of_their_own() {
    let log = [change(after(100), 2), change(after(500), 3), change(after(900), 2)];
    let six = at("6:00");
    assert_eq!(
        chain(&log, at("1:00")),
        [(Alert, start(), vec![], six), (Update, start(), vec![1], six), (Update, start(), vec![1, 2], six)]
    );
    let shown = in_force(&entries(log), at("0:01")).message.unwrap();
    assert_eq!((shown.key.run, shown.state), (after(900), FloodState::Minor));
}

#[test]
fn if_an_area_changes_twice_at_one_moment_the_last_change_counts() {
    let log = [change(at("0:00"), 2), change(at("1:00"), 3), change(at("1:00"), 2)];
    assert_eq!(chain(&log, at("2:00")), [(Alert, at("0:00"), vec![], at("6:00"))]);
}

#[test]
fn a_renewal_is_shown_15_seconds_after_it_is_sent_and_orphans_no_change_in_between() {
    let log = [change(at("0:00"), 2)];
    let known = entries(log);
    let before = in_force(&known, at("5:00:14"));
    assert_eq!(before.message.unwrap().sent, at("0:00"));
    assert_eq!(before.until, at("5:00:15"));
    let renewal = in_force(&known, at("5:00:15")).message.unwrap();
    assert_eq!((renewal.sent, renewal.key.renewal), (at("5:00"), 1));

    // The change was made before the renewal was due and committed after it, so the renewal was never shown.
    let changed = entries([log[0], change(at("4:59:58"), 3)]);
    assert_eq!(find(&changed, renewal.key, at("6:00")), None);
    let changed = entries([log[0], change(at("5:00:05"), 3)]);
    let shown = in_force(&changed, at("5:00:05"));
    let message = shown.message.unwrap();
    assert_eq!(message.state, FloodState::Moderate);
    assert!(message.references.iter().any(|reference| reference.key == renewal.key));
    assert_eq!(in_force(&changed, at("5:00:20")).message, Some(message));
    assert_eq!(shown.until, at("10:00:20"));
}

#[test]
fn a_message_refers_to_the_newest_50_before_it() {
    let log: Vec<_> = (0..100).map(|minute| change(at(&format!("0:{minute}")), 2 + minute % 2)).collect();
    let last = chain(&log, at("1:59")).pop().unwrap();
    assert_eq!(last.2, (50..100).collect::<Vec<_>>());
}

#[test]
fn a_message_is_found_by_its_key_as_long_as_the_log_lasts() {
    let log: Vec<_> = (0..400).map(|hour| change(at(&format!("{}:00", hour * 12)), 2)).collect();
    let known = entries(log);
    let now = at("4790:00");
    for message in messages(&known, start().saturating_sub(Duration::from_millis(1)), now) {
        let shown = Some(message.clone()).filter(|message| message.shown_from <= now);
        assert_eq!(find(&known, message.key, now), shown);
    }
    let newest = in_force(&known, now).message.unwrap();
    assert_eq!(newest.key.run, start());
    let mut other = newest.key;
    for renewal in [newest.key.renewal + 1, u32::MAX] {
        other.renewal = renewal;
        assert_eq!(find(&known, other, now), None);
    }
}
