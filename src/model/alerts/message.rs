use super::RENEWAL;
use crate::model::{FloodState, Timestamp};

/// Identifies a message of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey {
    /// The time of the first log entry of its run.
    pub run: Timestamp,
    /// The number of the renewal in its run; 0 is the first message.
    pub renewal: u32,
}

impl MessageKey {
    /// Returns when the message is due. Two messages of an area are never due at the same time. `None` if the time is too large.
    #[must_use]
    pub(crate) fn due(self) -> Option<Timestamp> {
        let due = self.run.saturating_add(RENEWAL.checked_mul(self.renewal)?);
        (due < Timestamp::LAST).then_some(due)
    }
}

/// The type of a message (CAP 1.2 §3.2.1, `msgType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// The first message.
    Alert,
    /// Replaces the messages that it refers to.
    Update,
    /// The flood is over.
    Cancel,
}

impl MessageType {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Alert, Self::Update, Self::Cancel];

    /// Returns its name in CAP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Alert => "Alert",
            Self::Update => "Update",
            Self::Cancel => "Cancel",
        }
    }
}

/// A reference to an earlier message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The message.
    pub key: MessageKey,
    /// When it was sent.
    pub sent: Timestamp,
}

/// A message about one area, as of [`sent`](Self::sent).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The key.
    pub key: MessageKey,
    /// The type.
    pub message_type: MessageType,
    /// The state of the area; in a `Cancel`, the state that has ended.
    pub state: FloodState,
    /// When it was sent, to the second.
    pub sent: Timestamp,
    /// When it expires, to the second.
    pub expires: Timestamp,
    /// When readers first see the message: a renewal [`SETTLING`](super::SETTLING) after it was sent, others once it is stored.
    pub shown_from: Timestamp,
    /// When the state was last set before the message was sent.
    pub last_confirmed: Timestamp,
    /// The references, oldest first: the newest [`MOST_REFERENCES`](super::MOST_REFERENCES) earlier `Alert`s and `Update`s that
    /// were still valid when this message was sent.
    pub references: Vec<Reference>,
}
