use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Feature, Properties};
use crate::model::{DisasterType, Geometry, Report, ReportKey, Tags, Timestamp};

/// Reports on the map.
#[derive(Clone, Debug, Default)]
pub struct ReportLayer(pub Vec<Arc<Report>>);

/// The properties of a report in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReportProperties<'a> {
    pkey: ReportKey,
    created_at: Timestamp,
    source: &'a str,
    status: &'static str,
    url: Option<&'a str>,
    image_url: Option<&'a str>,
    disaster_type: DisasterType,
    report_data: Option<&'a RawValue>,
    tags: &'a Tags,
    title: &'a str,
    text: &'a str,
    is_training: bool,
    partner_code: Option<&'a str>,
    partner_icon: Option<&'a str>,
}

impl<'a> From<&'a Report> for Feature<'a> {
    fn from(Report { key, content, tags }: &'a Report) -> Self {
        let properties = ReportProperties {
            pkey: *key,
            created_at: content.created_at,
            source: &content.source,
            status: Report::STATUS,
            url: content.url.as_deref(),
            image_url: content.image_url.as_deref(),
            disaster_type: content.disaster_type,
            report_data: content.report_data.as_deref(),
            tags,
            title: &content.title,
            text: &content.text,
            is_training: content.is_training,
            partner_code: content.partner_code.as_deref(),
            partner_icon: content.partner_icon.as_deref(),
        };
        let geometry = Geometry::Point(content.location.coord());
        Self { geometry, properties: Properties::Report(properties) }
    }
}
