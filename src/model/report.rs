use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{DisasterType, Position, Tags, Timestamp, digits};

/// The identifier of a report: a whole number from 1 to 9223372036854775807. Answers show it as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportKey(NonZeroU64);

/// A text or number that is no [`ReportKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", ReportKey::MAX)]
pub struct InvalidReportKey;

impl ReportKey {
    /// The first identifier.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The last identifier.
    pub const LAST: Self = match NonZeroU64::new(Self::MAX) {
        Some(number) => Self(number),
        None => Self::FIRST,
    };

    /// The largest identifier: what a signed 64-bit database column holds.
    pub const MAX: u64 = i64::MAX as u64;

    /// The identifier as a number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// The identifier after this one; `None` after the last.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.number().checked_add(1)?.try_into().ok()
    }
}

impl TryFrom<u64> for ReportKey {
    type Error = InvalidReportKey;

    fn try_from(number: u64) -> Result<Self, InvalidReportKey> {
        let number = NonZeroU64::new(number).filter(|number| number.get() <= Self::MAX);
        number.map(Self).ok_or(InvalidReportKey)
    }
}

impl FromStr for ReportKey {
    type Err = InvalidReportKey;

    /// Reads decimal digits; a sign, a blank or a fraction is an error.
    fn from_str(text: &str) -> Result<Self, InvalidReportKey> {
        digits(text).ok_or(InvalidReportKey)?.try_into()
    }
}

impl fmt::Display for ReportKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for ReportKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where reports that came by a card say they come from.
pub const CARD_SOURCE: &str = "grasp";

/// What a report says, before it is stored: everything but its identifier and its tags.
#[derive(Clone, Debug)]
pub struct ReportContent {
    /// When the reporter made it.
    pub created_at: Timestamp,
    /// Where it comes from: [`CARD_SOURCE`] or the name of a feed.
    pub source: Box<str>,
    /// The card it came by.
    pub url: Option<Box<str>>,
    /// Its picture: a web address ([`is_web_address`](super::is_web_address)), or the name of a photo of this service
    /// ([`is_photo_name`](super::is_photo_name)), which readers get as an address.
    pub image_url: Option<Box<str>>,
    /// What it is about.
    pub disaster_type: DisasterType,
    /// What the reporter filled in, as JSON; none for feeds.
    pub report_data: Option<Box<RawValue>>,
    /// Title, possibly empty.
    pub title: Box<str>,
    /// What the reporter wrote, possibly nothing.
    pub text: Box<str>,
    /// Where it was made.
    pub location: Position,
    /// Whether it was made in a training: such reports are listed and counted only where they are asked for.
    pub is_training: bool,
    /// The code of the partner it came through.
    pub partner_code: Option<Box<str>>,
    /// The address of that partner's icon.
    pub partner_icon: Option<Box<str>>,
}

/// A report of a resident.
#[derive(Clone, Debug)]
pub struct Report {
    /// Identifies it.
    pub key: ReportKey,
    /// What it says.
    pub content: ReportContent,
    /// Where it lies.
    pub tags: Tags,
}

impl Report {
    /// The status of every accepted report.
    pub const STATUS: &'static str = "confirmed";
}

/// A post of the partner feed and the report it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerPost {
    /// Identifies the post at the partner.
    pub post_id: i64,
    /// The report.
    pub report: ReportKey,
}
