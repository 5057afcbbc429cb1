use std::sync::Arc;

use crate::formats::Format;
use crate::model::AreaSelector;
use crate::stores::{FloodQuery, HistoryQuery, LayerQuery, ReportQuery, ReportSeriesQuery, Resource};

/// What the interface can be asked that everybody gets the same answer to: by it answers are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// What is on the map, in a format.
    Layer(LayerQuery, Arc<dyn Format>),
    /// The current states without the map.
    FloodStates(FloodQuery),
    /// The highest state of each area in a period.
    FloodArchive(HistoryQuery),
    /// The number of flooded areas at each hour.
    FloodSeries(HistoryQuery),
    /// The number of reports in each hour.
    ReportSeries(ReportSeriesQuery),
    /// The names of what flooded areas lie in.
    FloodedRegions(AreaSelector),
    /// How many areas stand how deep.
    FloodedAreas(AreaSelector),
    /// How many reports came from where and about what.
    ReportSummary(ReportQuery),
}

impl Question {
    /// The resource whose changes change the answer.
    #[must_use]
    pub fn resource(&self) -> Resource {
        match self {
            Self::Layer(query, _) => query.resource(),
            Self::FloodStates(_)
            | Self::FloodArchive(_)
            | Self::FloodSeries(_)
            | Self::FloodedRegions(_)
            | Self::FloodedAreas(_) => Resource::Floods,
            Self::ReportSeries(_) | Self::ReportSummary(_) => Resource::Reports,
        }
    }
}
