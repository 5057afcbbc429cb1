use std::time::Duration;

use super::DisasterType;
use super::bodies::Accepts;

/// The hazards of a country: what reports are about, and their attributes. **Default: Indonesia's**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazards {
    /// Ordered as in the country file. Contains each disaster once, but not preparedness.
    pub(crate) list: Vec<Hazard>,
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hazard {
    pub(crate) disaster: DisasterType,
    /// At least one report type.
    pub(crate) report_types: Vec<ReportType>,
    pub(crate) icon: String,
    pub(crate) colour: String,
    /// How long the live map shows a report.
    pub(crate) window: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportType {
    pub(crate) name: String,
    /// Names of attributes, in reading order.
    pub(crate) attributes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) accepts: Accepts,
    pub(crate) is_asked: bool,
}

impl Hazards {
    pub(crate) fn disasters(&self) -> impl Iterator<Item = DisasterType> {
        self.list.iter().map(|hazard| hazard.disaster).chain([DisasterType::Prep])
    }

    pub(crate) fn get(&self, disaster: DisasterType) -> Option<&Hazard> {
        self.list.iter().find(|hazard| hazard.disaster == disaster)
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}
