use std::sync::Arc;
use std::time::Duration;

use super::JSON;
use super::items::ItemsQuery;
use crate::formats::Format;
use crate::formats::tables::GEOJSON;
use crate::guards::TimePeriod;
use crate::http::content::ContentClass;
use crate::model::{AreaSelector, BoundingBox, CoveredData};
use crate::stores::{
    AlertQuery, FloodQuery, GaugeListQuery, GaugeQuery, HistoryQuery, LayerQuery, ReportQuery,
    ReportSeriesQuery, Resource, Window,
};

/// Identifies a response that is the same for all clients: the key of the response cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResponseKey {
    /// A layer of the map, in a format.
    Layer(LayerQuery, Arc<dyn Format>),
    /// The features of a layer within a box, in a format.
    Within(BoundingBox, LayerQuery, Arc<dyn Format>),
    /// The current flood states without geometry.
    FloodStates(FloodQuery),
    /// The highest state of each area in a period.
    FloodArchive(HistoryQuery),
    /// The number of flooded areas at each hour.
    FloodSeries(HistoryQuery),
    /// The number of reports in each hour.
    ReportSeries(ReportSeriesQuery),
    /// The names of the regions that contain flooded areas.
    FloodedRegions(AreaSelector),
    /// The number of areas at each depth of water.
    FloodedAreas(AreaSelector),
    /// The number of reports by source and by disaster.
    ReportSummary(ReportQuery),
    /// Features of a collection.
    Items(ItemsQuery),
}

impl ResponseKey {
    /// Returns whether the client has chosen a period or a part of the map, so that the number of such keys is nearly unlimited.
    #[must_use]
    pub(crate) fn is_unbounded(&self) -> bool {
        match self {
            Self::Layer(
                LayerQuery::Reports(ReportQuery { window, .. })
                | LayerQuery::Gauges(GaugeListQuery { readings: GaugeQuery { window, .. }, .. }),
                _,
            ) => *window != Window::Last(TimePeriod::DEFAULT),
            Self::Within(..)
            | Self::FloodArchive(_)
            | Self::FloodSeries(_)
            | Self::ReportSeries(_)
            | Self::Items(_) => true,
            Self::Layer(..)
            | Self::FloodStates(_)
            | Self::FloodedRegions(_)
            | Self::FloodedAreas(_)
            | Self::ReportSummary(_) => false,
        }
    }

    /// Returns whether clients are charged for the cost of a rendering, because they can choose many such keys.
    pub(super) fn is_charged(&self) -> bool {
        let is_part = |query: &FloodQuery| !query.selector.is_everything();
        self.is_unbounded()
            || matches!(self, Self::Layer(LayerQuery::Alerts(AlertQuery::InForce(query), _), _) if is_part(query))
    }

    fn format(&self) -> Option<&dyn Format> {
        match self {
            Self::Layer(_, format) | Self::Within(_, _, format) => Some(&**format),
            Self::FloodStates(_)
            | Self::FloodArchive(_)
            | Self::FloodSeries(_)
            | Self::ReportSeries(_)
            | Self::FloodedRegions(_)
            | Self::FloodedAreas(_)
            | Self::ReportSummary(_)
            | Self::Items(_) => None,
        }
    }

    #[must_use]
    pub(crate) fn media_type(&self) -> &str {
        match self {
            Self::Items(_) => GEOJSON,
            _ => self.format().map_or(JSON, Format::media_type),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Layer(query, _) | Self::Within(_, query, _) => query.kind().name(),
            Self::FloodStates(_) => "flood_states",
            Self::FloodArchive(_) => "flood_archive",
            Self::FloodSeries(_) => "flood_series",
            Self::ReportSeries(_) => "report_series",
            Self::FloodedRegions(_) => "flooded_regions",
            Self::FloodedAreas(_) => "flooded_areas",
            Self::ReportSummary(_) => "report_summary",
            Self::Items(_) => "items",
        }
    }

    pub(super) fn format_name(&self) -> &str {
        self.format().map_or("json", Format::name)
    }

    pub(super) fn expires_after(&self) -> Option<Duration> {
        self.format().and_then(Format::expires_after)
    }

    /// Returns the kind of data in the response; `None` for data without sources, such as places and exercises.
    pub(super) fn covered_data(&self) -> Option<CoveredData> {
        if matches!(self, Self::Layer(LayerQuery::Alerts(AlertQuery::Exercise, _), _)) {
            return None;
        }
        match self.resource() {
            Resource::Floods => Some(CoveredData::Floods),
            Resource::Reports => Some(CoveredData::Reports),
            Resource::Gauges => Some(CoveredData::Gauges),
            Resource::Places => None,
        }
    }

    /// Returns the city if the response is about the floods of one city.
    pub(super) fn flood_city(&self) -> Option<&str> {
        match self {
            Self::Layer(LayerQuery::Floods(query), _)
            | Self::Within(_, LayerQuery::Floods(query), _)
            | Self::FloodStates(query) => query.selector.city.as_deref(),
            _ => None,
        }
    }

    /// Returns the query and the length of the window if the response lists reports of a window that ends now.
    pub(super) fn recent_reports(&self) -> Option<(&ReportQuery, Duration)> {
        match self {
            Self::Layer(LayerQuery::Reports(query), _) | Self::Within(_, LayerQuery::Reports(query), _) => {
                match query.window {
                    Window::Last(length) => Some((query, length)),
                    Window::Within(_) => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the key with another length of the window.
    pub(super) fn with_length(&self, length: Duration) -> Self {
        let mut key = self.clone();
        if let Self::Layer(LayerQuery::Reports(query), _) | Self::Within(_, LayerQuery::Reports(query), _) =
            &mut key
        {
            query.window = Window::Last(length);
        }
        key
    }

    pub(super) fn content_class(&self) -> ContentClass {
        if self.resource() == Resource::Reports {
            ContentClass::MayHaveReports
        } else {
            ContentClass::WithoutReports
        }
    }

    /// Returns the resource whose changes make the response stale.
    #[must_use]
    pub(crate) fn resource(&self) -> Resource {
        match self {
            Self::Layer(query, _) | Self::Within(_, query, _) => query.resource(),
            Self::FloodStates(_)
            | Self::FloodArchive(_)
            | Self::FloodSeries(_)
            | Self::FloodedRegions(_)
            | Self::FloodedAreas(_) => Resource::Floods,
            Self::ReportSeries(_) | Self::ReportSummary(_) => Resource::Reports,
            Self::Items(query) => query.resource(),
        }
    }
}
