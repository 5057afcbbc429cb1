use std::fmt;
use std::str::FromStr;

use ring::digest::{Context, SHA256};

use super::{Actor, DisasterType, Report, ReportContent, ReportKey, Tags, Timestamp};

/// What a moderator does with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModerationAction {
    /// No reader sees the report any more.
    Hide,
    /// Readers see a hidden report again.
    Show,
    /// The content of the report is removed for good.
    Erase,
}

/// The error for a text that is not the name of a [`ModerationAction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [hide, show, erase]")]
pub struct UnknownModerationAction;

impl ModerationAction {
    /// Every action.
    pub const ALL: [Self; 3] = [Self::Hide, Self::Show, Self::Erase];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Show => "show",
            Self::Erase => "erase",
        }
    }
}

impl fmt::Display for ModerationAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ModerationAction {
    type Err = UnknownModerationAction;

    fn from_str(text: &str) -> Result<Self, UnknownModerationAction> {
        Self::ALL.into_iter().find(|action| action.name() == text).ok_or(UnknownModerationAction)
    }
}

/// An order of a moderator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moderation {
    /// The report.
    pub report: ReportKey,
    /// When the report was made, if the caller knows. A report of another time is another report.
    pub made_at: Option<Timestamp>,
    /// What to do.
    pub action: ModerationAction,
    /// Who ordered it.
    pub by: Actor,
    /// Why.
    pub reason: String,
}

/// An entry of the moderation log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerationEntry {
    /// Its number. Entries are counted from 1, in the order in which they took effect.
    pub number: u64,
    /// When it took effect.
    pub at: Timestamp,
    /// The report.
    pub report: ReportKey,
    /// When the report was made.
    pub made_at: Timestamp,
    /// What was done.
    pub action: ModerationAction,
    /// Who did it.
    pub by: Actor,
    /// Why.
    pub reason: String,
}

/// What is left of an erased report: enough to count it, and to recognise it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedReport {
    /// The key of the report.
    pub key: ReportKey,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its source.
    pub source: Box<str>,
    /// What it was about.
    pub disaster_type: DisasterType,
    /// Whether it was made in a training.
    pub is_training: bool,
    /// The province and the city in which it lay, without its local area.
    pub tags: Tags,
    /// Whether it was hidden; then no reader counts it.
    pub hidden: bool,
    /// The digest of its content.
    pub digest: ReportDigest,
}

impl ErasedReport {
    /// Returns what is left of a report that lay in `city`.
    #[must_use]
    pub fn from_report(Report { key, content, tags }: &Report, city: Option<&str>, hidden: bool) -> Self {
        Self {
            key: *key,
            created_at: content.created_at,
            source: content.source.clone(),
            disaster_type: content.disaster_type,
            is_training: content.is_training,
            tags: Tags {
                instance_region_code: tags.instance_region_code.clone(),
                local_area_id: None,
                district_id: None,
                city: city.map(Box::from),
            },
            hidden,
            digest: ReportDigest::new(content),
        }
    }
}

/// A digest of what never changes in a report: time, source, disaster, place, title and text (SHA-256).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportDigest([u8; 32]);

/// The error for a text that is not a [`ReportDigest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a digest of 64 hexadecimal digits")]
pub struct InvalidReportDigest;

impl ReportDigest {
    /// Returns the digest of a report.
    #[must_use]
    pub fn new(content: &ReportContent) -> Self {
        let place = content.location.coord();
        let (moment, disaster) = (content.created_at.to_string(), content.disaster_type.to_string());
        // A zero is the same with either sign, and databases do not keep the sign.
        let (lng, lat) = ((place.x + 0.0).to_string(), (place.y + 0.0).to_string());
        let mut context = Context::new(&SHA256);
        for part in [&*moment, &content.source, &disaster, &lng, &lat, &content.title, &content.text] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Self(bytes)
    }

    /// Returns its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ReportDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for ReportDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for ReportDigest {
    type Err = InvalidReportDigest;

    fn from_str(text: &str) -> Result<Self, InvalidReportDigest> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidReportDigest)?;
        Ok(Self(bytes))
    }
}

/// Where the photo of a report belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotoPlace {
    /// Where readers get it.
    Public,
    /// In the private folder for photos of hidden reports.
    Hidden,
    /// Nowhere: it is deleted.
    Gone,
}

/// The error for a text that is not the name of a [`PhotoPlace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [public, hidden, gone]")]
pub struct UnknownPhotoPlace;

impl PhotoPlace {
    /// Returns where the photo belongs after an action.
    #[must_use]
    pub fn after(action: ModerationAction) -> Self {
        match action {
            ModerationAction::Hide => Self::Hidden,
            ModerationAction::Show => Self::Public,
            ModerationAction::Erase => Self::Gone,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Hidden => "hidden",
            Self::Gone => "gone",
        }
    }
}

impl FromStr for PhotoPlace {
    type Err = UnknownPhotoPlace;

    fn from_str(text: &str) -> Result<Self, UnknownPhotoPlace> {
        let all = [Self::Public, Self::Hidden, Self::Gone];
        all.into_iter().find(|place| place.name() == text).ok_or(UnknownPhotoPlace)
    }
}

/// A photo that is to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhotoMove {
    /// The name of the photo ([`is_photo_name`](super::is_photo_name)).
    pub photo: Box<str>,
    /// Where it belongs.
    pub to: PhotoPlace,
}
