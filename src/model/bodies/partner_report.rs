use serde::{Deserialize, Serialize};

use super::fields::{Fault, Fields, Object, read, whole};
use crate::model::{DisasterType, ReportContent, Timestamp};

/// The rules for reports from the partner feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartnerRules {
    /// The cities that partners report from. **Default: `jabodetabek`, `bandung`, `surabaya`**
    pub cities: Vec<String>,
    /// The disasters that partners report. **Default: `flood`**
    pub disaster_types: Vec<DisasterType>,
}

impl Default for PartnerRules {
    fn default() -> Self {
        Self {
            cities: ["jabodetabek", "bandung", "surabaya"].map(str::to_owned).to_vec(),
            disaster_types: vec![DisasterType::Flood],
        }
    }
}

/// A report from the partner feed.
#[derive(Clone, Debug)]
pub struct PartnerReport {
    /// Identifies the report at the partner.
    pub post_id: i64,
    /// The content.
    pub content: ReportContent,
}

impl PartnerReport {
    /// The name of the feed.
    pub const FEED: &'static str = "partner";
}

/// Reads a partner's report. Checks the city, but does not keep it.
pub(crate) fn read_partner_report(
    body: &Object,
    rules: &PartnerRules,
    now: Timestamp,
) -> Result<PartnerReport, Vec<Fault>> {
    read(body, |fields| {
        let post_id =
            fields.required("post_id", |fields, key| fields.convert(key, "must be a whole number", whole));
        let created_at = fields.required("created_at", |fields, key| fields.report_time(key, now));
        let title = fields.text("title").unwrap_or_default();
        let text = fields.text("text").unwrap_or_default();
        let image_url = fields.web_address("image_url");
        fields.required("partner_city", |fields, key| fields.one_of(key, &rules.cities));
        let disaster_type =
            fields.required("disaster_type", |fields, key| fields.one_of(key, &rules.disaster_types));
        let location = fields.required("location", Fields::known_position);
        let is_training = fields.boolean("is_training");
        let partner_code = fields.name_or_empty("partner_code");
        let partner_icon = fields.web_address("partner_icon");
        Some(PartnerReport {
            post_id: post_id?,
            content: ReportContent {
                created_at: created_at?,
                source: PartnerReport::FEED.into(),
                url: None,
                image_url: image_url.map(Box::from),
                disaster_type: *disaster_type?,
                report_data: None,
                title: title.into(),
                text: text.into(),
                location: location?,
                is_training,
                partner_code: partner_code.map(Box::from),
                partner_icon: partner_icon.map(Box::from),
            },
        })
    })
}
