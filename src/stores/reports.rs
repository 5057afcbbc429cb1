use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreError, Versioned, Window};
use crate::model::{AreaSelector, DisasterType, Period, Report, ReportKey, ReportLayer, SeriesPoint};

/// Which reports are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportQuery {
    /// Reports of a city or province only.
    pub selector: AreaSelector,
    /// Reports of one disaster only; without it of all disasters, which preparedness is none of.
    pub disaster: Option<DisasterType>,
    /// When they were made.
    pub window: Window,
}

impl ReportQuery {
    /// Whether reports of this type are asked for.
    #[must_use]
    pub fn asks_for(&self, disaster: DisasterType) -> bool {
        match self.disaster {
            Some(asked) => asked == disaster,
            None => disaster != DisasterType::Prep,
        }
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

    /// One report.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::Unavailable`].
    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError>;

    /// The number of reports of a disaster made in each hour of a period, the hours of both its ends whole;
    /// those dated after now are not counted.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn report_series(
        &self,
        selector: &AreaSelector,
        disaster: DisasterType,
        period: Period,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError>;

    /// How many reports there are of those asked for.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError>;
}
