use std::time::Duration;

use super::{
    CONFIRMED_FOR, LIFETIME, LogEntry, MOST_REFERENCES, Message, MessageKey, MessageType, REMEMBERED,
    RENEWAL, Reference, SETTLING,
};
use crate::model::{FloodState, Timestamp};

/// The resolution of `sent` and `expires`.
const SECOND: Duration = Duration::from_secs(1);

/// The message of an area that is in force at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InForce {
    /// The newest message that is shown, unless it has expired.
    pub message: Option<Message>,
    /// When a list of the messages in force last changed because of this area: its message was sent, or expired. `None` if
    /// that is more than [`REMEMBERED`] ago.
    pub changed: Option<Timestamp>,
    /// When this changes, if the log stays as it is: the message is renewed or expires, or [`changed`](Self::changed) ends.
    pub until: Timestamp,
}

/// Returns the earliest time of the entries that the messages after a moment depend on. Earlier entries change nothing.
#[must_use]
pub(crate) fn reach(from: Timestamp) -> Timestamp {
    referable(from).before(CONFIRMED_FOR)
}

/// Returns a moment: messages sent before it have expired by `from`, so no later message refers to them.
fn referable(from: Timestamp) -> Timestamp {
    from.before(LIFETIME + SECOND)
}

/// Returns the messages that are due after `from`, oldest first: the first ones of all runs, and the renewals that are not due
/// after `until`.
///
/// `entries` are those of one area, in ascending order, from `reach` on. Costs O(entries + messages × references).
#[must_use]
pub fn messages(entries: &[LogEntry], from: Timestamp, until: Timestamp) -> Vec<Message> {
    let mut chain = Vec::new();
    let mut runs = entries.chunk_by(|one, other| one.run == other.run).peekable();
    while let Some(run) = runs.next() {
        let end = runs.peek().and_then(|next| next.first()).map(|first| first.at);
        add_run(&mut chain, run, end, referable(from), until);
    }
    chain.retain(|(due, _)| *due > from);
    chain.into_iter().map(|(_, message)| message).collect()
}

/// Returns the earliest time of the entries that [`in_force`] depends on. Earlier entries change nothing.
#[must_use]
pub(crate) fn reach_in_force(now: Timestamp) -> Timestamp {
    reach(remembered(now))
}

/// The moment after which messages may have been in force within [`REMEMBERED`] before `now`.
fn remembered(now: Timestamp) -> Timestamp {
    referable(now).before(REMEMBERED)
}

/// Returns the message of an area that is in force at a moment.
///
/// `entries` are those of one area, in ascending order: at least those from [`reach_in_force`], and all later ones.
#[must_use]
pub(crate) fn in_force(entries: &[LogEntry], now: Timestamp) -> InForce {
    let around = messages(entries, remembered(now), horizon(entries, now));
    // Renewals are shown with a delay, so a change can be shown before a renewal that was sent earlier. This takes the last one
    // that is shown, by the order in which they were sent.
    let newest = around.iter().rposition(|message| message.shown_from <= now);
    let later = &around[newest.map_or(0, |newest| newest + 1)..];
    let newest = newest.map(|newest| &around[newest]);
    let message = newest.filter(|message| message.expires > now);
    let changed = newest.map(|newest| if message.is_some() { newest.sent } else { newest.expires });
    let changed = changed.filter(|changed| message.is_some() || changed.after(REMEMBERED) > now);
    let ends = match message {
        Some(message) => Some(message.expires),
        None => changed.map(|changed| changed.after(REMEMBERED)),
    };
    let changes = later.iter().map(|message| message.shown_from).chain(ends);
    let until = changes.min().unwrap_or(Timestamp::LAST);
    InForce { message: message.cloned(), changed, until }
}

/// Returns until when messages follow from entries that may be ahead of the clock: as long as the newest one is valid.
#[must_use]
pub(crate) fn horizon(entries: &[LogEntry], now: Timestamp) -> Timestamp {
    entries.last().map_or(now, |last| last.at.max(now)).after(LIFETIME)
}

/// Returns one message, if it exists and is shown at `now`. `entries` are as for [`messages`], up to the message.
#[must_use]
pub(crate) fn find(entries: &[LogEntry], key: MessageKey, now: Timestamp) -> Option<Message> {
    let due = key.due()?;
    let found = messages(entries, due.before(Duration::from_millis(1)), due);
    found.into_iter().find(|message| message.key == key && message.shown_from <= now)
}

/// Adds the messages of a run that are due after `from`, its renewals not after `until`. `end` is when the next run begins.
fn add_run(
    chain: &mut Vec<(Timestamp, Message)>,
    entries: &[LogEntry],
    end: Option<Timestamp>,
    from: Timestamp,
    until: Timestamp,
) {
    let [first @ LogEntry { run, .. }, ..] = *entries else { return };
    let is_recent = |confirmed: Timestamp, due: Timestamp| due.since(confirmed) <= CONFIRMED_FOR;
    let is_confirmed = first.confirmed.is_some_and(|confirmed| is_recent(confirmed, first.at));
    let Some(state) = first.state.filter(|_| is_confirmed) else {
        if run > from {
            chain.extend(cancel(chain, &first).map(|message| (run, message)));
        }
        return;
    };
    let passed = from.since(run).as_millis() / RENEWAL.as_millis();
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
                sent: sent(&first),
                shown_from: Timestamp::EPOCH,
                ..standing(chain, key, due, state, confirmed)
            }
        } else {
            standing(chain, key, due, state, confirmed)
        };
        chain.push((due, message));
    }
}

/// Returns when the message of an entry was sent. The time of the entry can be ahead of the clock that has received it.
fn sent(entry: &LogEntry) -> Timestamp {
    entry.received.min(entry.at).floor(SECOND)
}

/// The renewal of the message that an area has a state, after those of `chain`.
fn standing(
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
        expires: sent.after(LIFETIME),
        shown_from: due.after(SETTLING),
        last_confirmed,
        references,
    }
}

/// The message that a flood is over, or that nobody has confirmed it for long; `None` if no message about it is valid.
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
        sent: sent(first),
        // Each message expires after those before it, so this is the latest of all that it refers to.
        expires: newest.expires,
        shown_from: Timestamp::EPOCH,
        last_confirmed: first.at,
        references: references(chain, due),
    })
}

/// The newest `Alert`s and `Update`s that have neither expired at a moment nor been cancelled, oldest first.
fn references(chain: &[(Timestamp, Message)], at: Timestamp) -> Vec<Reference> {
    let earlier = chain.iter().rev().map(|(_, message)| message);
    let in_force =
        earlier.take_while(|message| message.message_type != MessageType::Cancel && message.expires > at);
    let mut references: Vec<_> =
        in_force.take(MOST_REFERENCES).map(|of| Reference { key: of.key, sent: of.sent }).collect();
    references.reverse();
    references
}
