use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocket::{State, get};
use serde::Serialize;

use super::Answer;
use crate::error::Problem;
use crate::guards::{Caller, Floods, Reports, Select, TimePeriod};
use crate::model::{AreaSelector, DisasterType, FloodLayer, FloodState};
use crate::stores::{FloodQuery, ReportQuery, Store, Window};

#[derive(Serialize)]
struct FloodedRegions<'a> {
    #[serde(rename = "total number of regions with flooded RWs")]
    total: usize,
    #[serde(rename = "regions with flooded RWs")]
    names: BTreeSet<&'a str>,
}

/// Flooded areas by the depth of their water.
#[derive(Default, Serialize)]
struct FloodedAreas {
    #[serde(rename = "# hati-hati RWs")]
    unknown: u64,
    #[serde(rename = "# 10-70cm RWs")]
    minor: u64,
    #[serde(rename = "# 71-150cm RWs")]
    moderate: u64,
    #[serde(rename = "# 151cm+ RWs")]
    severe: u64,
}

#[derive(Serialize)]
struct Reported {
    #[serde(rename = "total number of reports")]
    total: u64,
    #[serde(rename = "by source")]
    by_source: BTreeMap<String, u64>,
    #[serde(rename = "by disaster")]
    by_disaster: BTreeMap<&'static str, u64>,
}

/// `GET /stats/floodedRegionsSummary`: the names of what flooded areas lie in.
#[get("/stats/floodedRegionsSummary")]
pub(super) async fn summarize_flooded_regions(
    _caller: Caller,
    select: Select<Floods>,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let flooded = flooded(select.areas, store).await?;
    let names: BTreeSet<&str> = flooded.features().map(|flood| flood.area.parent_name.as_str()).collect();
    Answer::result(&FloodedRegions { total: names.len(), names })
}

/// `GET /stats/floodedRWsSummary`: how many areas stand how deep.
#[get("/stats/floodedRWsSummary")]
pub(super) async fn summarize_flooded_areas(
    _caller: Caller,
    select: Select<Floods>,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let flooded = flooded(select.areas, store).await?;
    let mut summary = FloodedAreas::default();
    for standing in flooded.features().filter_map(|flood| flood.standing) {
        *match standing.state {
            FloodState::Unknown => &mut summary.unknown,
            FloodState::Minor => &mut summary.minor,
            FloodState::Moderate => &mut summary.moderate,
            FloodState::Severe => &mut summary.severe,
        } += 1;
    }
    Answer::result(&summary)
}

/// `GET /stats/reportsSummary`: how many reports came from where and about what.
#[get("/stats/reportsSummary")]
pub(super) async fn summarize_reports(
    _caller: Caller,
    select: Select<Reports>,
    time_period: TimePeriod,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let window = Window::Last(time_period.0);
    let query = ReportQuery { selector: select.areas, disaster: None, window };
    let summary = store.report_summary(&query).await?.value;
    Answer::result(&Reported {
        total: summary.by_disaster.values().sum(),
        by_source: summary.by_source,
        by_disaster: by_name(summary.by_disaster),
    })
}

/// The flooded areas of a selection.
async fn flooded(selector: AreaSelector, store: &State<Arc<dyn Store>>) -> Result<FloodLayer, Problem> {
    let query = FloodQuery { selector, minimum_state: Some(FloodState::Unknown) };
    Ok(store.floods(&query).await?.value)
}

fn by_name(by_disaster: BTreeMap<DisasterType, u64>) -> BTreeMap<&'static str, u64> {
    by_disaster.into_iter().map(|(disaster, count)| (disaster.name(), count)).collect()
}
