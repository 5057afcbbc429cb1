use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Feature, FeatureId, MapLayer, Properties};
use crate::model::{BoundingBox, DisasterType, Geometry, ImageUrl, Report, ReportKey, Tags, Timestamp};

/// Reports on the map.
#[derive(Clone, Debug, Default)]
pub struct ReportLayer {
    /// The reports, in the order of the response.
    pub reports: Vec<Arc<Report>>,
    photos: Arc<str>,
}

impl From<Vec<Arc<Report>>> for ReportLayer {
    /// Creates a layer in which names of photos in `image_url` have no address.
    fn from(reports: Vec<Arc<Report>>) -> Self {
        Self { reports, photos: Arc::default() }
    }
}

impl ReportLayer {
    #[must_use]
    pub(crate) fn with_photos_at(self, address: Arc<str>) -> Self {
        Self { photos: address, ..self }
    }

    pub(super) fn within(mut self, bbox: &BoundingBox) -> Self {
        self.reports.retain(|report| bbox.touches(Geometry::Point(report.content.location.coord())));
        self
    }
}

/// The properties of a report in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReportProperties<'a> {
    pkey: ReportKey,
    created_at: Timestamp,
    source: &'a str,
    status: &'static str,
    url: Option<&'a str>,
    image_url: Option<ImageUrl<'a>>,
    disaster_type: DisasterType,
    report_data: Option<&'a RawValue>,
    tags: &'a Tags,
    title: &'a str,
    text: &'a str,
    is_training: bool,
    partner_code: Option<&'a str>,
    partner_icon: Option<&'a str>,
}

impl MapLayer for ReportLayer {
    type Properties<'a> = ReportProperties<'a>;

    fn len(&self) -> usize {
        self.reports.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, ReportProperties<'_>) {
        let report = &self.reports[index];
        (Geometry::Point(report.content.location.coord()), properties(report, &self.photos))
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Number(self.reports[index].key.number()))
    }
}

impl<'a> From<&'a Report> for Feature<'a> {
    fn from(report: &'a Report) -> Self {
        let geometry = Geometry::Point(report.content.location.coord());
        Self { geometry, properties: Properties::Reports(properties(report, "")) }
    }
}

fn properties<'a>(Report { key, content, tags }: &'a Report, photos: &'a str) -> ReportProperties<'a> {
    ReportProperties {
        pkey: *key,
        created_at: content.created_at,
        source: &content.source,
        status: Report::STATUS,
        url: content.url.as_deref(),
        image_url: content.image_url.as_deref().map(|stored| ImageUrl { stored, photos }),
        disaster_type: content.disaster_type,
        report_data: content.report_data.as_deref(),
        tags,
        title: &content.title,
        text: &content.text,
        is_training: content.is_training,
        partner_code: content.partner_code.as_deref(),
        partner_icon: content.partner_icon.as_deref(),
    }
}
