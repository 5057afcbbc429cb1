use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

use super::{Report, Timestamp};

/// A pseudonym for the sender of waiting reports: 64 bits of a keyed hash of the network address, which people can share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SenderHash(u64);

/// Error for a text that is not 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 16 hexadecimal digits")]
pub struct InvalidSenderHash;

impl SenderHash {
    /// Creates a pseudonym from the first bytes of a hash.
    #[must_use]
    pub fn new(bytes: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(bytes))
    }
}

impl fmt::Display for SenderHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for SenderHash {
    type Err = InvalidSenderHash;

    fn from_str(text: &str) -> Result<Self, InvalidSenderHash> {
        let is_hash = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hash);
        number.map(Self).ok_or(InvalidSenderHash)
    }
}

impl Serialize for SenderHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The origin of a report that waits for review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingOrigin {
    /// The sender; `None` if unknown, or erased after a day.
    pub sender: Option<SenderHash>,
    /// Whether the report was probably sent by a program.
    pub is_suspect: bool,
}

/// A report that waits for review.
#[derive(Clone, Debug)]
pub struct WaitingReport {
    /// The report.
    pub report: Arc<Report>,
    /// The origin.
    pub origin: WaitingOrigin,
    /// The number of waiting reports from its sender, including this one.
    pub sender_total: u64,
}

/// Reports that wait for review.
#[derive(Clone, Debug, Default)]
pub struct WaitingReports {
    /// The number of waiting reports, listed or not.
    pub total: u64,
    /// The listed reports, newest first, but reports probably sent by a program last.
    pub reports: Vec<WaitingReport>,
}

/// A request to hide all waiting reports of a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HideWaiting {
    /// The sender.
    pub sender: SenderHash,
    /// The moderator.
    pub by: super::Actor,
    /// The areas whose reports the moderator may hide.
    pub limit: super::AreaLimit,
    /// The reason, for the log.
    pub reason: String,
}

/// The outcome of a [`HideWaiting`] request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenReports {
    /// The keys of the hidden reports, ascending.
    pub hidden: Vec<super::ReportKey>,
    /// How many waiting reports of the sender stay, because they are outside of the limit.
    pub left: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) origin: WaitingOrigin,
    pub(crate) since: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_round_trips_and_other_texts_are_rejected() {
        let hash = SenderHash::new([0, 1, 2, 3, 4, 5, 6, 255]);
        assert_eq!(hash.to_string(), "00010203040506ff");
        assert_eq!("00010203040506ff".parse(), Ok(hash));
        for wrong in ["", "00010203040506f", "+0010203040506ff", "00010203040506fg"] {
            assert_eq!(wrong.parse::<SenderHash>(), Err(InvalidSenderHash), "{wrong}");
        }
    }
}
