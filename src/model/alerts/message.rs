use super::RENEWAL;
use crate::model::{FloodState, Timestamp};

/// Identifies a message among those of its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey {
    /// When the first entry of its run was made.
    pub run: Timestamp,
    /// Which renewal of the run it is; 0 is the first message.
    pub renewal: u32,
}

impl MessageKey {
    /// Returns the moment at which the message is due: no other message of its area has the same one. `None` beyond the end of
    /// time.
    #[must_use]
    pub(crate) fn due(self) -> Option<Timestamp> {
        let due = self.run.after(RENEWAL.checked_mul(self.renewal)?);
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
    /// Every type.
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

/// An earlier message that another one refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The message.
    pub key: MessageKey,
    /// When it was sent.
    pub sent: Timestamp,
}

/// One message about one area. All it says is as of [`sent`](Self::sent).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifies it.
    pub key: MessageKey,
    /// Its type.
    pub message_type: MessageType,
    /// The state of the area; in a `Cancel`, the state that has ended.
    pub state: FloodState,
    /// When it was sent, to the second.
    pub sent: Timestamp,
    /// Until when it is valid, to the second.
    pub expires: Timestamp,
    /// From when on it is shown: a renewal [`SETTLING`](super::SETTLING) after it is sent, another one as soon as its entry is
    /// stored.
    pub shown_from: Timestamp,
    /// When the state was last set before the message was sent.
    pub last_confirmed: Timestamp,
    /// The messages it refers to, oldest first: the newest [`MOST_REFERENCES`](super::MOST_REFERENCES) earlier `Alert`s and
    /// `Update`s that had neither expired nor been cancelled when it was sent.
    pub references: Vec<Reference>,
}
