use std::time::Duration;

use super::{
    CONFIRMED_FOR, Entry, LIFETIME, MOST_REFERENCES, Message, MessageKey, MessageType, REMEMBERED, RENEWAL,
    Reference, SETTLING,
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

/// Returns the messages that are due after `from` and not after `until`, oldest first.
///
/// `entries` are those of one area, in ascending order: at least those from `reach` to `until`. Costs
/// O(entries + messages × references).
#[must_use]
pub fn messages(entries: &[Entry], from: Timestamp, until: Timestamp) -> Vec<Message> {
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
/// `entries` are those of one area, in ascending order: at least those from [`reach_in_force`], and all later ones. Entries
/// after `now` count only for [`InForce::until`].
#[must_use]
pub(crate) fn in_force(entries: &[Entry], now: Timestamp) -> InForce {
    let known = &entries[..entries.partition_point(|entry| entry.at <= now)];
    let around = messages(known, remembered(now), now.after(LIFETIME));
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
    // An entry can be later than now, by the clock of another server.
    let coming = entries.get(known.len()).map(|entry| entry.at);
    let changes = later.iter().map(|message| message.shown_from).chain(ends).chain(coming);
    let until = changes.min().unwrap_or(Timestamp::LAST);
    InForce { message: message.cloned(), changed, until }
}

/// Returns one message, if it exists and is shown at `now`. `entries` are as for [`messages`], around the message.
#[must_use]
pub(crate) fn find(entries: &[Entry], key: MessageKey, now: Timestamp) -> Option<Message> {
    let due = key.due()?;
    let found = messages(entries, due.before(Duration::from_millis(1)), due);
    found.into_iter().find(|message| message.key == key && message.shown_from <= now)
}

/// Adds the messages of a run that are due after `from` and not after `until`. `end` is when the next run begins.
fn add_run(
    chain: &mut Vec<(Timestamp, Message)>,
    entries: &[Entry],
    end: Option<Timestamp>,
    from: Timestamp,
    until: Timestamp,
) {
    let [Entry { run, state, .. }, ..] = *entries else { return };
    let Some(state) = state else {
        if run > from && run <= until {
            chain.extend(cancel(chain, run).map(|message| (run, message)));
        }
        return;
    };
    let passed = from.since(run).as_millis() / RENEWAL.as_millis();
    for renewal in u32::try_from(passed).unwrap_or(u32::MAX).. {
        let key = MessageKey { run, renewal };
        let is_due = |due: &Timestamp| *due <= until && end.is_none_or(|end| *due < end);
        let Some(due) = key.due().filter(is_due) else { return };
        if due <= from {
            continue;
        }
        let confirmed = entries[..entries.partition_point(|entry| entry.at <= due)].last();
        let Some(confirmed) = confirmed else { continue };
        if due.since(confirmed.at) > CONFIRMED_FOR {
            return;
        }
        chain.push((due, standing(chain, key, due, state, confirmed.at)));
    }
}

/// The message that an area has a state, after those of `chain`.
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
        shown_from: if key.renewal == 0 { due } else { due.after(SETTLING) },
        last_confirmed,
        references,
    }
}

/// The message that a flood is over; `None` if no message about it is valid.
fn cancel(chain: &[(Timestamp, Message)], run: Timestamp) -> Option<Message> {
    let sent = run.floor(SECOND);
    let (_, newest) = chain.last()?;
    if newest.message_type == MessageType::Cancel || newest.expires <= sent {
        return None;
    }
    Some(Message {
        key: MessageKey { run, renewal: 0 },
        message_type: MessageType::Cancel,
        state: newest.state,
        sent,
        // Each message expires after those before it, so this is the latest of all that it refers to.
        expires: newest.expires,
        shown_from: run,
        last_confirmed: run,
        references: references(chain, sent),
    })
}

/// The newest `Alert`s and `Update`s that have not expired at a moment, oldest first.
fn references(chain: &[(Timestamp, Message)], at: Timestamp) -> Vec<Reference> {
    let earlier = chain.iter().rev().map(|(_, message)| message);
    let replaced = earlier.filter(|message| message.message_type != MessageType::Cancel);
    let valid = replaced.take_while(|message| message.expires > at).take(MOST_REFERENCES);
    let mut references: Vec<_> = valid.map(|of| Reference { key: of.key, sent: of.sent }).collect();
    references.reverse();
    references
}
