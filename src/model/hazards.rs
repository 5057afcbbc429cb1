use std::time::Duration;

use super::DisasterType;
use super::bodies::Accepts;

/// The hazards of a country: what reports are about, and what they say of it. **Default: those of Indonesia**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazards {
    /// In the order of the country's file, each disaster once; preparedness is not among them.
    pub(crate) list: Vec<Hazard>,
    /// The attributes of all report types, each name once.
    pub(crate) attributes: Vec<Attribute>,
}

/// What reports about one disaster may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hazard {
    pub(crate) disaster: DisasterType,
    /// At least one.
    pub(crate) reports: Vec<ReportType>,
    /// The picture on the map: the data of an SVG path, 24 by 24.
    pub(crate) icon: String,
    /// The colour on the map: `#` and six hexadecimal digits.
    pub(crate) colour: String,
    /// For how long the live map shows a report.
    pub(crate) window: Duration,
}

/// A kind of report about a disaster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportType {
    pub(crate) name: String,
    /// The names of its attributes, in the order in which people read them.
    pub(crate) attributes: Vec<String>,
}

/// A member of the data from a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) accepts: Accepts,
    /// Whether the form asks for it.
    pub(crate) is_asked: bool,
}

impl Hazards {
    /// Returns the disasters of the country, then preparedness.
    pub(crate) fn disasters(&self) -> impl Iterator<Item = DisasterType> {
        self.list.iter().map(|hazard| hazard.disaster).chain([DisasterType::Prep])
    }

    /// Returns the hazard of a disaster.
    pub(crate) fn get(&self, disaster: DisasterType) -> Option<&Hazard> {
        self.list.iter().find(|hazard| hazard.disaster == disaster)
    }

    /// Returns the attribute with a name.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}
