use std::time::Duration;

use super::{
    CONFIRMED_FOR, LIFETIME, LogEntry, MOST_REFERENCES, Message, MessageKey, MessageType, REMEMBERED,
    RENEWAL, Reference, SETTLING,
};
use crate::model::{FloodState, Timestamp};

const SECOND: Duration = Duration::from_secs(1);

/// The message in force in an area at a given time, and until when this value is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageInForce {
    pub message: Option<Message>,
    /// When the message in force was sent. Without one, when the last message expired; `None` if more than [`REMEMBERED`] ago.
    pub changed: Option<Timestamp>,
    /// When this value changes without a new log entry: the message is renewed or expires, or `changed` becomes `None`.
    pub until: Timestamp,
}

/// Returns the earliest time of log entries that can affect messages after `from`.
#[must_use]
pub(crate) fn log_window_start(from: Timestamp) -> Timestamp {
    referable_since(from).saturating_sub(CONFIRMED_FOR)
}

/// Messages sent before this time have expired by `from`, so no later message refers to them.
fn referable_since(from: Timestamp) -> Timestamp {
    from.saturating_sub(LIFETIME + SECOND)
}

/// Returns the messages due after `from`, oldest first: the first message of each run, and renewals due until `until`. `entries`
/// must be the entries of one area from `log_window_start(from)` on, ascending. Costs O(entries + messages × references).
#[must_use]
pub fn messages(entries: &[LogEntry], from: Timestamp, until: Timestamp) -> Vec<Message> {
    let mut chain = Vec::new();
    let mut runs = entries.chunk_by(|one, other| one.run == other.run).peekable();
    while let Some(run) = runs.next() {
        let end = runs.peek().and_then(|next| next.first()).map(|first| first.at);
        add_run(&mut chain, run, end, referable_since(from), until);
    }
    chain.retain(|(due, _)| *due > from);
    chain.into_iter().map(|(_, message)| message).collect()
}

#[must_use]
pub(crate) fn log_window_start_in_force(now: Timestamp) -> Timestamp {
    log_window_start(remembered_since(now))
}

/// Returns a time: only messages sent after it can have been in force within [`REMEMBERED`] before `now`.
fn remembered_since(now: Timestamp) -> Timestamp {
    referable_since(now).saturating_sub(REMEMBERED)
}

/// Returns the message of an area in force at `now`. `entries` must be all entries of the area from
/// [`log_window_start_in_force`] on, ascending.
#[must_use]
pub(crate) fn in_force(entries: &[LogEntry], now: Timestamp) -> MessageInForce {
    let nearby = messages(entries, remembered_since(now), horizon(entries, now));
    // The newest of the messages already shown. Renewals are shown late, so a change can be shown before an earlier renewal.
    let newest = nearby.iter().rposition(|message| message.shown_from <= now);
    let later = &nearby[newest.map_or(0, |newest| newest + 1)..];
    let newest = newest.map(|newest| &nearby[newest]);
    let message = newest.filter(|message| message.expires > now);
    let changed = newest.map(|newest| if message.is_some() { newest.sent } else { newest.expires });
    let changed = changed.filter(|changed| message.is_some() || changed.saturating_add(REMEMBERED) > now);
    let ends = match message {
        Some(message) => Some(message.expires),
        None => changed.map(|changed| changed.saturating_add(REMEMBERED)),
    };
    let changes = later.iter().map(|message| message.shown_from).chain(ends);
    let until = changes.min().unwrap_or(Timestamp::LAST);
    MessageInForce { message: message.cloned(), changed, until }
}

/// Returns the time until which messages can be in force, even if the times of entries are ahead of the clock.
#[must_use]
pub(crate) fn horizon(entries: &[LogEntry], now: Timestamp) -> Timestamp {
    entries.last().map_or(now, |last| last.at.max(now)).saturating_add(LIFETIME)
}

/// Returns the message with this key, if it is shown at `now`. `entries` must be as for [`messages`], up to the message.
#[must_use]
pub(crate) fn find(entries: &[LogEntry], key: MessageKey, now: Timestamp) -> Option<Message> {
    let due = key.due()?;
    let messages = messages(entries, due.saturating_sub(Duration::from_millis(1)), due);
    messages.into_iter().find(|message| message.key == key && message.shown_from <= now)
}

/// Adds the messages of a run that are due after `from`, but no renewals due after `until`. `end` is the start of the next run.
fn add_run(
    chain: &mut Vec<(Timestamp, Message)>,
    entries: &[LogEntry],
    end: Option<Timestamp>,
    from: Timestamp,
    until: Timestamp,
) {
    let [first @ LogEntry { run, .. }, ..] = *entries else { return };
    let is_recent =
        |confirmed: Timestamp, due: Timestamp| due.saturating_duration_since(confirmed) <= CONFIRMED_FOR;
    let is_confirmed = first.confirmed.is_some_and(|confirmed| is_recent(confirmed, first.at));
    let Some(state) = first.state.filter(|_| is_confirmed) else {
        if run > from {
            chain.extend(cancel(chain, &first).map(|message| (run, message)));
        }
        return;
    };
    let passed = from.saturating_duration_since(run).as_millis() / RENEWAL.as_millis();
    for renewal in u32::try_from(passed).unwrap_or(u32::MAX).. {
        let key = MessageKey { run, renewal };
        let is_due = |due: &Timestamp| renewal == 0 || *due <= until && end.is_none_or(|end| *due < end);
        let Some(due) = key.due().filter(is_due) else { return };
        if due <= from {
            continue;
        }
        let Some(entry) = entries[..entries.partition_point(|entry| entry.at <= due)].last() else {
            continue;
        };
        let Some(confirmed) = entry.confirmed.filter(|confirmed| is_recent(*confirmed, due)) else { return };
        let message = if renewal == 0 {
            Message {
                sent: sent_at(&first),
                shown_from: Timestamp::EPOCH,
                ..state_message(chain, key, due, state, confirmed)
            }
        } else {
            state_message(chain, key, due, state, confirmed)
        };
        chain.push((due, message));
    }
}

/// Returns when the message of an entry is sent: not after the store received the entry, even if the entry's time is later.
fn sent_at(entry: &LogEntry) -> Timestamp {
    entry.received.min(entry.at).floor(SECOND)
}

fn state_message(
    chain: &[(Timestamp, Message)],
    key: MessageKey,
    due: Timestamp,
    state: FloodState,
    last_confirmed: Timestamp,
) -> Message {
    let sent = due.floor(SECOND);
    let references = references(chain, sent);
    Message {
        key,
        message_type: if references.is_empty() { MessageType::Alert } else { MessageType::Update },
        state,
        sent,
        expires: sent.saturating_add(LIFETIME),
        shown_from: due.saturating_add(SETTLING),
        last_confirmed,
        references,
    }
}

/// Returns the `Cancel` for a flood that ended or is no longer confirmed; `None` if there is no valid message to cancel.
fn cancel(chain: &[(Timestamp, Message)], first: &LogEntry) -> Option<Message> {
    let due = first.at.floor(SECOND);
    let (_, newest) = chain.last()?;
    if newest.message_type == MessageType::Cancel || newest.expires <= due {
        return None;
    }
    Some(Message {
        key: MessageKey { run: first.run, renewal: 0 },
        message_type: MessageType::Cancel,
        state: newest.state,
        sent: sent_at(first),
        // The newest message expires last, so its expiry is the latest of all references.
        expires: newest.expires,
        shown_from: Timestamp::EPOCH,
        last_confirmed: first.at,
        references: references(chain, due),
    })
}

/// Returns the newest `Alert`s and `Update`s that are neither expired nor cancelled at a time, oldest first.
fn references(chain: &[(Timestamp, Message)], at: Timestamp) -> Vec<Reference> {
    let earlier = chain.iter().rev().map(|(_, message)| message);
    let in_force =
        earlier.take_while(|message| message.message_type != MessageType::Cancel && message.expires > at);
    let mut references: Vec<_> =
        in_force.take(MOST_REFERENCES).map(|old| Reference { key: old.key, sent: old.sent }).collect();
    references.reverse();
    references
}
