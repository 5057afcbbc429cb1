use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::{AreaSelector, FloodLayer, FloodState};
use crate::stores::{FloodQuery, ReportSummary, Store, StoreError, Versioned};

#[derive(Serialize)]
pub(super) struct FloodedRegions {
    #[serde(rename = "total number of regions with flooded RWs")]
    total: usize,
    #[serde(rename = "regions with flooded RWs")]
    names: BTreeSet<String>,
}

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

#[derive(Serialize)]
pub(super) struct ReportCounts {
    #[serde(rename = "total number of reports")]
    total: u64,
    #[serde(rename = "by source")]
    by_source: BTreeMap<String, u64>,
    #[serde(rename = "by disaster")]
    by_disaster: BTreeMap<String, u64>,
}

pub(super) async fn flooded(
    store: &dyn Store,
    selector: &AreaSelector,
) -> Result<Versioned<FloodLayer>, StoreError> {
    let query = FloodQuery { selector: selector.clone(), minimum_state: Some(FloodState::Unknown) };
    store.floods(&query).await
}

impl FloodedRegions {
    pub(super) fn new(flooded: &FloodLayer) -> Self {
        let names: BTreeSet<_> = flooded.features().map(|flood| flood.area.parent_name.clone()).collect();
        Self { total: names.len(), names }
    }
}

impl FloodedAreas {
    pub(super) fn new(flooded: &FloodLayer) -> Self {
        let mut summary = Self::default();
        for current in flooded.features().filter_map(|flood| flood.current) {
            *match current.state {
                FloodState::Unknown => &mut summary.unknown,
                FloodState::Minor => &mut summary.minor,
                FloodState::Moderate => &mut summary.moderate,
                FloodState::Severe => &mut summary.severe,
            } += 1;
        }
        summary
    }
}

impl From<ReportSummary> for ReportCounts {
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
