//! Properties that hold for every log at every time.

use std::collections::HashSet;
use std::time::Duration;

use super::{
    CONFIRMED_FOR, LIFETIME, LogEntry, Message, MessageType, RENEWAL, SETTLING, entries, find, in_force,
    log_window_start, log_window_start_in_force, messages,
};
use crate::model::{StateChange, Timestamp};
use proptest::prelude::*;

use super::tests::{after, change, start};

fn log() -> impl Strategy<Value = Vec<StateChange>> {
    let terms =
        [LIFETIME, RENEWAL, CONFIRMED_FOR, SETTLING].map(|term| u64::try_from(term.as_millis()).unwrap());
    let around = (prop::sample::select(terms.to_vec()), 0..2000_u64);
    let pause = prop_oneof![
        1 => 0..3_u64,
        2 => 0..20_000_u64,
        4 => 0..(2 * 3_600_000_u64),
        2 => 0..(40 * 3_600_000_u64),
        2 => around.prop_map(|(term, by)| (term + by).saturating_sub(1000)),
    ];
    prop::collection::vec((pause, 0..4_u64), 0..40).prop_map(|steps| {
        let mut time = 0;
        let changes = steps.into_iter().map(|(pause, code)| {
            time += pause;
            // Codes 0 and 1 both clear the state, so that half of the changes are clearings.
            change(after(time), if code == 1 { 0 } else { code })
        });
        changes.collect()
    })
}

fn moment(log: &[StateChange], pick: usize, by: i64) -> Timestamp {
    let near = log.get(pick % log.len().max(1)).map_or(start(), |change| change.at);
    let by_ms = Duration::from_millis(by.unsigned_abs());
    if by < 0 { near.saturating_sub(by_ms) } else { near.saturating_add(by_ms) }
}

fn offsets() -> impl Strategy<Value = i64> {
    prop_oneof![-2_i64..20_000, -3_600_000_i64..(48 * 3_600_000)]
}

fn all(entries: &[LogEntry], until: Timestamp) -> Vec<Message> {
    messages(entries, start().saturating_sub(Duration::from_millis(1)), until)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_confirmed_state_has_a_message_in_force_and_an_unconfirmed_one_not_for_long(
        log in log(), pick in 0..40_usize, by in offsets()
    ) {
        let now = moment(&log, pick, by);
        let known = entries(log.into_iter().take_while(|change| change.at <= now));
        let standing = known.last();
        let found = in_force(&known, now).message;
        match standing {
            Some(LogEntry { at, state: Some(state), .. }) if now.saturating_duration_since(*at) <= CONFIRMED_FOR => {
                prop_assert_eq!(found.map(|found| (found.state, found.message_type == MessageType::Cancel)), Some((*state, false)));
            }
            Some(LogEntry { at, state: Some(state), .. }) => {
                prop_assert!(found.as_ref().is_none_or(|found| found.state == *state));
                prop_assert!(found.is_none() || now.saturating_duration_since(*at) < CONFIRMED_FOR + LIFETIME);
            }
            Some(LogEntry { state: None, .. }) => {
                prop_assert!(found.is_none_or(|found| found.message_type == MessageType::Cancel));
            }
            None => prop_assert_eq!(found, None),
        }
    }

    #[test]
    fn references_are_the_earlier_alerts_and_updates_that_have_neither_expired_nor_been_cancelled(log in log()) {
        let last = log.last().map_or(start(), |change| change.at);
        let chain = all(&entries(log), last.saturating_add(LIFETIME));
        for (number, message) in chain.iter().enumerate() {
            let cancelled = chain[..number].iter().rposition(|earlier| earlier.message_type == MessageType::Cancel);
            let earlier = chain[cancelled.map_or(0, |last| last + 1)..number].iter();
            let valid = earlier.filter(|earlier| earlier.expires > message.sent);
            let valid: Vec<_> = valid.collect();
            let newest = &valid[valid.len().saturating_sub(50)..];
            let keys: Vec<_> = newest.iter().map(|message| (message.key, message.sent)).collect();
            let referred: Vec<_> = message.references.iter().map(|earlier| (earlier.key, earlier.sent)).collect();
            prop_assert_eq!(referred, keys);
            prop_assert_eq!(message.message_type == MessageType::Alert, valid.is_empty());
            if message.message_type == MessageType::Cancel {
                prop_assert_eq!(Some(message.expires), valid.iter().map(|earlier| earlier.expires).max());
                prop_assert!(chain[number - 1].message_type != MessageType::Cancel);
            } else {
                prop_assert_eq!(message.expires, message.sent.saturating_add(LIFETIME));
            }
        }
    }

    #[test]
    fn keys_are_unique_and_setting_the_same_state_sends_no_message(log in log()) {
        let known = entries(log.iter().copied());
        let last = log.last().map_or(start(), |change| change.at);
        let chain = all(&known, last.saturating_add(LIFETIME));
        let keys: HashSet<_> = chain.iter().map(|message| message.key).collect();
        prop_assert_eq!(keys.len(), chain.len());
        let begun: HashSet<_> = known.iter().map(|entry| entry.run).collect();
        prop_assert!(chain.iter().all(|message| begun.contains(&message.key.run)));
        let first = chain.iter().filter(|message| message.key.renewal == 0).count();
        prop_assert!(first <= begun.len());
    }

    #[test]
    fn shown_messages_never_change_while_the_log_is_appended_to(
        log in log(), pick in 0..40_usize, by in offsets()
    ) {
        let now = moment(&log, pick, by);
        let whole = entries(log.iter().copied());
        let then = entries(log.into_iter().take_while(|change| change.at <= now));
        let shown = |entries: &[LogEntry]| -> Vec<Message> {
            all(entries, now).into_iter().filter(|message| message.shown_from <= now).collect()
        };
        let mut later = shown(&whole);
        later.retain(|message| message.key.due().is_some_and(|due| due <= now));
        prop_assert_eq!(shown(&then), later);
    }

    #[test]
    fn a_change_that_is_committed_10_seconds_late_orphans_no_message(
        log in log(), pick in 0..40_usize, by in offsets(), late in 0..10_000_u64
    ) {
        let now = moment(&log, pick, by);
        let committed = log.iter().copied().filter(|change| change.at.saturating_add(Duration::from_millis(late)) <= now);
        let renewals = |entries: &[LogEntry]| -> Vec<_> {
            let shown = all(entries, now).into_iter().filter(|message| message.shown_from <= now);
            shown.filter(|message| message.key.renewal > 0).map(|message| message.key).collect()
        };
        let (then, whole) = (entries(committed), entries(log.iter().copied()));
        let later = renewals(&whole);
        prop_assert!(renewals(&then).iter().all(|key| later.contains(key)));
    }

    #[test]
    fn entries_before_the_reach_do_not_matter(log in log(), pick in 0..40_usize, by in offsets()) {
        let now = moment(&log, pick, by);
        let known = entries(log.into_iter().take_while(|change| change.at <= now));
        let since = |from: Timestamp| &known[known.partition_point(|entry| entry.at < from)..];
        prop_assert_eq!(in_force(since(log_window_start_in_force(now)), now), in_force(&known, now));
        let from = now.saturating_sub(Duration::from_hours(2));
        prop_assert_eq!(messages(since(log_window_start(from)), from, now), messages(&known, from, now));
        for message in messages(&known, from, now) {
            if message.shown_from <= now {
                prop_assert_eq!(find(since(log_window_start(from)), message.key, now), Some(message));
            }
        }
    }

    #[test]
    fn the_message_in_force_does_not_change_before_until(log in log(), pick in 0..40_usize, by in offsets(), part in 0.0..1.0) {
        let now = moment(&log, pick, by);
        let known = entries(log.into_iter().take_while(|change| change.at <= now));
        let found = in_force(&known, now);
        prop_assert!(found.until > now);
        let until = found.until.min(now.saturating_add(LIFETIME * 9)).saturating_sub(Duration::from_millis(1));
        let length = until.saturating_duration_since(now);
        let later = now.saturating_add(length.mul_f64(part));
        prop_assert_eq!(&in_force(&known, later).message, &found.message);
        prop_assert_eq!(in_force(&known, now.saturating_add(length)).message, found.message);
    }
}
