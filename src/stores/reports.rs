use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::{
    AreaSelector, DisasterType, Period, Report, ReportContent, ReportKey, ReportLayer, SeriesPoint, Timestamp,
};

/// Which reports to return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportQuery {
    /// Only reports of this city or province.
    pub selector: AreaSelector,
    /// Only reports of this disaster. `None` means all disasters except preparedness.
    pub disaster: Option<DisasterType>,
    /// Whether to include training reports.
    pub training: bool,
    /// The span of time in which the reports were made.
    pub window: Window,
}

impl ReportQuery {
    /// Whether a report with this content matches the query. Ignores the place and the time of the report.
    #[must_use]
    pub(crate) fn matches(&self, content: &ReportContent) -> bool {
        self.includes(content.disaster_type, content.is_training)
    }

    /// Whether the query includes reports of this disaster. `is_training`: whether these reports are from a training.
    pub(super) fn includes(&self, disaster: DisasterType, is_training: bool) -> bool {
        let is_included = match self.disaster {
            Some(selected) => selected == disaster,
            None => disaster != DisasterType::Prep,
        };
        is_included && (self.training || !is_training)
    }
}

/// Which reports to count hour by hour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportSeriesQuery {
    /// Only reports of this city or province.
    pub selector: AreaSelector,
    /// Only reports of this disaster.
    pub disaster: DisasterType,
    /// Whether to include training reports.
    pub training: bool,
    /// The period to count in, extended to whole hours at both ends.
    pub period: Period,
}

impl ReportSeriesQuery {
    /// Returns the query that selects the reports to count. Its window is the period, extended to whole hours.
    #[must_use]
    pub fn reports(&self) -> ReportQuery {
        ReportQuery {
            selector: self.selector.clone(),
            disaster: Some(self.disaster),
            training: self.training,
            window: Window::Within(self.period.whole_hours()),
        }
    }

    /// Returns how many of the moments are in each hour of the period.
    pub(super) fn count(&self, moments: impl Iterator<Item = Timestamp>) -> Vec<SeriesPoint> {
        let mut points: Vec<_> = self.period.hours().map(|ts| SeriesPoint { ts, count: 0 }).collect();
        for moment in moments {
            if let Ok(index) = points.binary_search_by_key(&moment.floor_to_hour(), |point| point.ts) {
                points[index].count += 1;
            }
        }
        points
    }
}

/// Numbers of reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSummary {
    /// The number of reports from each source.
    pub by_source: BTreeMap<String, u64>,
    /// The number of reports of each disaster.
    pub by_disaster: BTreeMap<DisasterType, u64>,
}

impl ReportSummary {
    pub(super) fn count(&mut self, source: &str, disaster: DisasterType) {
        *self.by_source.entry(source.to_owned()).or_default() += 1;
        *self.by_disaster.entry(disaster).or_default() += 1;
    }
}

/// Reports from all sources.
#[async_trait]
pub trait ReportStore {
    /// Returns the selected reports, newest first; reports with the same time are ordered by descending key. Leaves out reports
    /// dated in the future. The cost depends only on the number of reports in the window.
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError>;

    /// Returns how many reports [`reports`](Self::reports) would return now, but at most `most`.
    ///
    /// The server calls this method to limit the cost of [`reports`](Self::reports), so counting must cost much less. **Default:
    /// calls [`reports`](Self::reports)**, which is fast enough for a few thousand reports
    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        Ok(most.min(self.reports(query).await?.value.reports.len() as u64))
    }

    /// Returns one report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError>;

    /// Returns up to `most` reports by ascending key, from `first` on: of all disasters and dates, trainings included. If `first`
    /// is `None`, returns only the one with the highest key. **Default: reads all reports but those dated in the future**
    async fn reports_from(
        &self,
        first: Option<ReportKey>,
        most: u32,
    ) -> Result<Vec<Arc<Report>>, StoreError> {
        let (selector, window) = (AreaSelector::default(), Window::Last(Duration::MAX));
        let query = ReportQuery { selector, disaster: None, training: true, window };
        let preparedness = ReportQuery { disaster: Some(DisasterType::Prep), ..query.clone() };
        let mut reports = self.reports(&query).await?.value.reports;
        reports.extend(self.reports(&preparedness).await?.value.reports);
        reports.sort_by_key(|report| report.key);
        Ok(match first {
            Some(first) => {
                let first = reports.partition_point(|report| report.key < first);
                reports.into_iter().skip(first).take(most as usize).collect()
            }
            None => reports.pop().into_iter().collect(),
        })
    }

    /// Returns the number of reports made in each hour of a period, without future ones. **Default: counts the reports**
    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let reports = self.reports(&query.reports()).await?;
        Ok(reports.map(|layer| query.count(layer.reports.iter().map(|report| report.content.created_at))))
    }

    /// Counts the selected reports, by source and by disaster. **Default: reads the reports, and counts them**
    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        Ok(self.reports(query).await?.map(|layer| {
            let mut summary = ReportSummary::default();
            let contents = layer.reports.iter().map(|report| &report.content);
            contents.for_each(|content| summary.count(&content.source, content.disaster_type));
            summary
        }))
    }
}
