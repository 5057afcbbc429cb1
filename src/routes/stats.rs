use std::collections::{BTreeMap, BTreeSet};

use rocket::get;
use serde::Serialize;
use serde_json::Value;

use super::{Answer, Answers, Question};
use crate::described;
use crate::error::Problem;
use crate::guards::{Caller, Param, Select, TimePeriod, Training};
use crate::model::{AreaSelector, FloodLayer, FloodState};
use crate::openapi::Described;
use crate::resources::Reports;
use crate::schema;
use crate::stores::{FloodQuery, ReportQuery, ReportSummary, Store, StoreError, Versioned, Window};

/// Returns the routes of the statistics.
pub(super) fn routes() -> Vec<Described> {
    let shares = |route: Described, statistic: Value| {
        let route = route.gives(schema::enveloped_with_members(statistic));
        route.with(|operation, _| operation.is_shared())
    };
    vec![
        shares(
            described!(summarize_flooded_regions).says("The regions that have flooded areas"),
            schema::flooded_regions(),
        ),
        shares(
            described!(summarize_flooded_areas).says("The number of areas in each flood state"),
            schema::flooded_areas(),
        ),
        shares(
            described!(summarize_reports).says("The number of reports by source and by disaster"),
            schema::reported(),
        ),
    ]
}

/// The names of the regions that contain flooded areas.
#[derive(Serialize)]
pub(super) struct FloodedRegions {
    #[serde(rename = "total number of regions with flooded RWs")]
    total: usize,
    #[serde(rename = "regions with flooded RWs")]
    names: BTreeSet<String>,
}

/// The number of flooded areas by the depth of their water.
#[derive(Default, Serialize)]
pub(super) struct FloodedAreas {
    #[serde(rename = "# hati-hati RWs")]
    unknown: u64,
    #[serde(rename = "# 10-70cm RWs")]
    minor: u64,
    #[serde(rename = "# 71-150cm RWs")]
    moderate: u64,
    #[serde(rename = "# 151cm+ RWs")]
    severe: u64,
}

/// The number of reports by source and by disaster.
#[derive(Serialize)]
pub(super) struct Reported {
    #[serde(rename = "total number of reports")]
    total: u64,
    #[serde(rename = "by source")]
    by_source: BTreeMap<String, u64>,
    #[serde(rename = "by disaster")]
    by_disaster: BTreeMap<String, u64>,
}

/// `GET /stats/floodedRegionsSummary`: responds with the names of the regions that contain flooded areas.
#[get("/stats/floodedRegionsSummary")]
pub(super) async fn summarize_flooded_regions(
    _caller: Caller,
    select: Select<Reports>,
    answers: Answers,
) -> Result<Answer, Problem> {
    answers.to(Question::FloodedRegions(select.areas)).await
}

/// `GET /stats/floodedRWsSummary`: responds with the number of areas at each depth of water.
#[get("/stats/floodedRWsSummary")]
pub(super) async fn summarize_flooded_areas(
    _caller: Caller,
    select: Select<Reports>,
    answers: Answers,
) -> Result<Answer, Problem> {
    answers.to(Question::FloodedAreas(select.areas)).await
}

/// `GET /stats/reportsSummary`: responds with the number of reports by source and by disaster.
#[get("/stats/reportsSummary")]
pub(super) async fn summarize_reports(
    _caller: Caller,
    select: Select<Reports>,
    training: Param<Training>,
    time_period: Param<TimePeriod>,
    answers: Answers,
) -> Result<Answer, Problem> {
    let window = Window::Last(time_period.0);
    let query = ReportQuery { selector: select.areas, disaster: None, training: training.0, window };
    answers.to(Question::ReportSummary(query)).await
}

/// Returns the flooded areas of a selection.
pub(super) async fn flooded(
    store: &dyn Store,
    selector: &AreaSelector,
) -> Result<Versioned<FloodLayer>, StoreError> {
    let query = FloodQuery { selector: selector.clone(), minimum_state: Some(FloodState::Unknown) };
    store.floods(&query).await
}

impl FloodedRegions {
    pub(super) fn of(flooded: &FloodLayer) -> Self {
        let names: BTreeSet<_> = flooded.features().map(|flood| flood.area.parent_name.clone()).collect();
        Self { total: names.len(), names }
    }
}

impl FloodedAreas {
    pub(super) fn of(flooded: &FloodLayer) -> Self {
        let mut summary = Self::default();
        for standing in flooded.features().filter_map(|flood| flood.standing) {
            *match standing.state {
                FloodState::Unknown => &mut summary.unknown,
                FloodState::Minor => &mut summary.minor,
                FloodState::Moderate => &mut summary.moderate,
                FloodState::Severe => &mut summary.severe,
            } += 1;
        }
        summary
    }
}

impl From<ReportSummary> for Reported {
    fn from(ReportSummary { by_source, by_disaster }: ReportSummary) -> Self {
        Self {
            total: by_disaster.values().sum(),
            by_source,
            by_disaster: by_disaster
                .into_iter()
                .map(|(disaster, count)| (disaster.to_string(), count))
                .collect(),
        }
    }
}
