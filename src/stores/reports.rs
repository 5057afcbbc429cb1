use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::{
    AreaSelector, DisasterType, Period, Report, ReportContent, ReportKey, ReportLayer, SeriesPoint, Timestamp,
};

/// Which reports are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportQuery {
    /// Reports of a city or province only.
    pub selector: AreaSelector,
    /// Reports of one disaster only; without it of all disasters, which preparedness is none of.
    pub disaster: Option<DisasterType>,
    /// Whether reports of trainings are asked for as well.
    pub training: bool,
    /// When they were made.
    pub window: Window,
}

impl ReportQuery {
    /// Whether reports that say this are asked for, wherever and whenever they were made.
    #[must_use]
    pub fn asks_for(&self, content: &ReportContent) -> bool {
        let disaster = match self.disaster {
            Some(asked) => asked == content.disaster_type,
            None => content.disaster_type != DisasterType::Prep,
        };
        disaster && (self.training || !content.is_training)
    }
}

/// Which reports are counted hour by hour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportSeriesQuery {
    /// Reports of a city or province only.
    pub selector: AreaSelector,
    /// Reports of this disaster.
    pub disaster: DisasterType,
    /// Whether reports of trainings are counted as well.
    pub training: bool,
    /// The hours, those of both its ends whole.
    pub period: Period,
}

impl ReportSeriesQuery {
    /// The reports that are counted: those of whole hours.
    #[must_use]
    pub fn reports(&self) -> ReportQuery {
        ReportQuery {
            selector: self.selector.clone(),
            disaster: Some(self.disaster),
            training: self.training,
            window: Window::Within(self.period.whole_hours()),
        }
    }

    /// How many of these moments lie in each hour of the period.
    pub(super) fn count(&self, moments: impl Iterator<Item = Timestamp>) -> Vec<SeriesPoint> {
        let mut points: Vec<_> = self.period.hours().map(|ts| SeriesPoint { ts, count: 0 }).collect();
        for moment in moments {
            if let Ok(index) = points.binary_search_by_key(&moment.hour(), |point| point.ts) {
                points[index].count += 1;
            }
        }
        points
    }
}

/// How many reports there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSummary {
    /// By where they come from.
    pub by_source: BTreeMap<String, u64>,
    /// By what they are about.
    pub by_disaster: BTreeMap<DisasterType, u64>,
}

impl ReportSummary {
    pub(super) fn count(&mut self, report: &ReportContent) {
        *self.by_source.entry(report.source.to_string()).or_default() += 1;
        *self.by_disaster.entry(report.disaster_type).or_default() += 1;
    }
}

/// Reports, whichever way they came.
#[async_trait]
pub trait ReportStore {
    /// The reports asked for, newest first, of the same time by falling identifier. Reports dated after now
    /// are left out until their time has come.
    ///
    /// Costs what the reports of the window cost, however many others there are.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError>;

    /// How many reports [`reports`](Self::reports) would list now, counted up to `most` and no further.
    ///
    /// Asked before a list is read, to bound what that takes: it must cost much less than the list. **Default: reads the
    /// list**, which suits a store of a few thousand reports
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        Ok(most.min(self.reports(query).await?.value.reports.len() as u64))
    }

    /// One report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::Unavailable`].
    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError>;

    /// The number of reports made in each hour of a period; those dated after now are not counted. **Default: reads the
    /// list**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let listed = self.reports(&query.reports()).await?;
        Ok(listed.map(|layer| query.count(layer.reports.iter().map(|report| report.content.created_at))))
    }

    /// How many reports there are of those asked for. **Default: reads the list**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        Ok(self.reports(query).await?.map(|layer| {
            let mut summary = ReportSummary::default();
            layer.reports.iter().for_each(|report| summary.count(&report.content));
            summary
        }))
    }
}
