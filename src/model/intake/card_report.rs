use serde::{Deserialize, Serialize};

use super::attributes::{self, report_type_of, report_types};
use super::fields::{Fault, Fields, Object, read};
use crate::model::{CARD_SOURCE, CardId, DisasterType, ReportContent};

/// What cards may report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CardRules {
    /// The types of preparedness reports. **Default: `drain`, `desilting`, `canalrepair`, `treeclearing`, `flood`,
    /// `damage`, `power`**
    pub prep_types: Vec<String>,
}

impl Default for CardRules {
    fn default() -> Self {
        let types = ["drain", "desilting", "canalrepair", "treeclearing", "flood", "damage", "power"];
        Self { prep_types: types.map(str::to_owned).to_vec() }
    }
}

/// Reads the report of a card.
///
/// # Errors
///
/// All faults of the body.
pub fn read_card_report(
    card: &CardId,
    body: &Object,
    rules: &CardRules,
) -> Result<ReportContent, Vec<Fault>> {
    read(body, |fields| {
        let disaster = fields.one_of("disaster_type", &DisasterType::ALL).copied();
        let card_data = fields.required("card_data", |fields, key| {
            fields.object(key, |data| {
                let disaster_type = disaster_type(data, fields, disaster, rules);
                Some((data.kept()?, disaster_type?))
            })
        });
        let created_at = fields.required("created_at", Fields::moment);
        let location = fields.required("location", Fields::position);
        let text = fields.text("text").unwrap_or_default();
        fields.text("image_id");
        let (report_data, disaster_type) = card_data?;
        Some(ReportContent {
            created_at: created_at?,
            source: CARD_SOURCE.into(),
            url: Some(card.as_str().into()),
            image_url: None,
            disaster_type,
            report_data: Some(report_data),
            title: "".into(),
            text: text.into(),
            location: location?,
        })
    })
}

/// Checks `card_data` and tells what the report is about: the disaster that is named, else the one its type belongs to.
fn disaster_type(
    data: &Fields<'_>,
    body: &Fields<'_>,
    named: Option<DisasterType>,
    CardRules { prep_types }: &CardRules,
) -> Option<DisasterType> {
    attributes::check(data);
    // A disaster that is named wrongly has its own fault; its types are then anybody's.
    let types = report_types(named, prep_types);
    let report_type = data.required("report_type", |data, key| {
        let must = format!("must be one of [{}]", types.join(", "));
        data.convert(key, must, |value| value.as_str().filter(|name| types.contains(name)))
    });
    let disaster = match body.get("disaster_type") {
        Some(_) => named,
        None => report_type.and_then(|name| report_type_of(name, prep_types)),
    };
    if disaster == Some(DisasterType::Flood) {
        data.required("flood_depth", |_, _| Some(()));
    }
    disaster
}
