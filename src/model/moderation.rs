use std::fmt;
use std::str::FromStr;

use ring::digest::{Context, SHA256};

use super::{Actor, AreaLimit, DisasterType, Report, ReportContent, ReportKey, Tags, Timestamp};

/// An action of a moderator on a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModerationAction {
    /// Hides the report from all readers.
    Hide,
    /// Shows a hidden report again.
    Show,
    /// Removes the content of the report for good.
    Erase,
}

/// Error for a text that is not the name of a [`ModerationAction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [hide, show, erase]")]
pub struct UnknownModerationAction;

impl ModerationAction {
    /// All actions.
    pub const ALL: [Self; 3] = [Self::Hide, Self::Show, Self::Erase];

    /// Returns the name.
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

/// A moderation request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moderation {
    /// The report.
    pub report: ReportKey,
    /// The expected creation time of the report, if the caller sends it. The request fails if the report has another time.
    pub made_at: Option<Timestamp>,
    /// The action.
    pub action: ModerationAction,
    /// The moderator.
    pub by: Actor,
    /// The areas whose reports the moderator may change.
    pub limit: AreaLimit,
    /// The reason.
    pub reason: String,
}

/// An entry of the moderation log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerationEntry {
    /// The sequence number from 1, in the order in which entries took effect.
    pub number: u64,
    /// When the action took effect.
    pub at: Timestamp,
    /// The report.
    pub report: ReportKey,
    /// The creation time of the report.
    pub made_at: Timestamp,
    /// The action.
    pub action: ModerationAction,
    /// The moderator.
    pub by: Actor,
    /// The reason.
    pub reason: String,
}

/// The data kept of an erased report, to count it and to recognise its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedReport {
    /// The key of the report.
    pub key: ReportKey,
    /// When the report was created.
    pub created_at: Timestamp,
    /// The source.
    pub source: Box<str>,
    /// The type of disaster.
    pub disaster_type: DisasterType,
    /// Whether the report was made in a training.
    pub is_training: bool,
    /// The province and city, without the local area.
    pub tags: Tags,
    /// Whether the report was hidden when it was erased. Public counts exclude hidden reports.
    pub hidden: bool,
    /// The digest of the content.
    pub digest: ReportDigest,
}

impl ErasedReport {
    /// Returns the data to keep of a report in `city`.
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

/// A SHA-256 digest of the immutable parts of a report: time, source, disaster, place, title and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportDigest([u8; 32]);

/// Error for a text that is not a [`ReportDigest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a digest of 64 hexadecimal digits")]
pub struct InvalidReportDigest;

impl ReportDigest {
    /// Computes the digest of a report.
    #[must_use]
    pub fn new(content: &ReportContent) -> Self {
        let place = content.location.coord();
        let (moment, disaster) = (content.created_at.to_string(), content.disaster_type.to_string());
        // Adding zero drops the sign of −0, which databases do not store.
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

    /// Returns the bytes.
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

/// The storage location of a report's photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotoPlace {
    /// The public folder.
    Public,
    /// The private folder for photos of hidden reports.
    Hidden,
    /// The photo is deleted.
    Gone,
}

/// Error for a text that is not the name of a [`PhotoPlace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of [public, hidden, gone]")]
pub struct UnknownPhotoPlace;

impl PhotoPlace {
    /// Returns the location of the photo after an action.
    #[must_use]
    pub fn after(action: ModerationAction) -> Self {
        match action {
            ModerationAction::Hide => Self::Hidden,
            ModerationAction::Show => Self::Public,
            ModerationAction::Erase => Self::Gone,
        }
    }

    /// Returns the name.
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

/// A pending move of a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhotoMove {
    /// The name of the photo ([`is_photo_name`](super::is_photo_name)).
    pub photo: Box<str>,
    /// The destination.
    pub to: PhotoPlace,
}
