use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{DisasterType, Position, Tags, Timestamp, digits};

/// The identifier of a report: a whole number from 1 to 9223372036854775807. Responses contain it as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportKey(NonZeroU64);

/// Error for a text or number that is not a [`ReportKey`].
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

    /// The largest identifier: the maximum of a signed 64-bit database column.
    pub const MAX: u64 = i64::MAX as u64;

    /// Returns the identifier as a number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// Returns the next identifier; `None` after the last.
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

/// The source of reports from cards.
pub const CARD_SOURCE: &str = "grasp";

/// The content of a report: everything except its identifier and tags.
#[derive(Clone, Debug)]
pub struct ReportContent {
    /// When the reporter made the report.
    pub created_at: Timestamp,
    /// [`CARD_SOURCE`] or the name of a feed.
    pub source: Box<str>,
    /// The identifier of the card with which the report was made.
    pub url: Option<Box<str>>,
    /// The image: a web address ([`is_web_address`](super::is_web_address)), or the name of a photo of this service
    /// ([`is_photo_name`](super::is_photo_name)). Responses contain the address of the photo instead of its name.
    pub image_url: Option<Box<str>>,
    /// The type of disaster.
    pub disaster_type: DisasterType,
    /// The data that the reporter filled in, as JSON; `None` for feeds.
    pub report_data: Option<Box<RawValue>>,
    /// The title, possibly empty.
    pub title: Box<str>,
    /// The text by the reporter, possibly empty.
    pub text: Box<str>,
    /// The place.
    pub location: Position,
    /// Whether the report was made in a training. Responses list and count such reports only on request.
    pub is_training: bool,
    /// The code of the partner through which the report came.
    pub partner_code: Option<Box<str>>,
    /// The address of the partner's icon.
    pub partner_icon: Option<Box<str>>,
}

/// A report from a resident.
#[derive(Clone, Debug)]
pub struct Report {
    /// The identifier.
    pub key: ReportKey,
    /// The content.
    pub content: ReportContent,
    /// The regions that contain the place of the report.
    pub tags: Tags,
}

impl Report {
    /// The status of every accepted report.
    pub const STATUS: &'static str = "confirmed";
}

/// A post of the partner feed, and the report created from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerPost {
    /// Identifies the post at the partner.
    pub post_id: i64,
    /// The report.
    pub report: ReportKey,
}
