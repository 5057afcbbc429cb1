//! Checks all rows of a folder, instead of stopping at the first fault.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::dataset::{cards, collect, partner_posts, places};
use super::{Folder, FolderFile, FolderRow, ReportRow};
use crate::data::folder::DatasetError;
use crate::model::{Gauge, ReportKey, Timestamp};

pub(super) struct Diagnostics {
    most: usize,
    errors: Mutex<Vec<DatasetError>>,
}

impl Folder {
    /// Reads all files and returns up to `most` faults, in the order of discovery; `most` must be more than 0. `now` is the
    /// latest time allowed in the flood log.
    ///
    /// Skips a file if its rows refer to a file with faults, because these would cause most of its own faults. Keeps only the
    /// places, and the identifiers of gauges and reports, in memory.
    #[must_use]
    pub(crate) fn check(&mut self, now: Timestamp, most: usize) -> Vec<DatasetError> {
        self.diagnostics = Some(Diagnostics { most, errors: Mutex::default() });
        let result = self.read_all(now);
        let errors = self.diagnostics.take().map(|diagnostics| diagnostics.errors.into_inner());
        let mut errors = errors.unwrap_or(Ok(Vec::new())).unwrap_or_else(PoisonError::into_inner);
        errors.extend(result.err());
        errors
    }

    fn read_all(&self, now: Timestamp) -> Result<(), DatasetError> {
        let places = places(self)?;
        self.basemap(|_| Ok::<_, DatasetError>(()))?;
        if !self.has_errors(FolderFile::Areas) {
            self.flood_states(places.areas(), now, |_| Ok::<_, DatasetError>(()))?;
        }
        let mut gauges = HashSet::new();
        self.gauges(places.locator(), |row: FolderRow<Gauge>| {
            gauges.insert(row.value.id);
            Ok::<_, DatasetError>(())
        })?;
        if !self.has_errors(FolderFile::Gauges) {
            self.gauge_readings(&|id| gauges.contains(id), |_| Ok::<_, DatasetError>(()))?;
        }
        let erased: HashSet<ReportKey> =
            collect(|each| self.erased_reports(each))?.iter().map(|erased| erased.key).collect();
        let (mut keys, mut keyless) = (erased.clone(), 0_usize);
        let mut note = |row: FolderRow<ReportRow>| {
            match row.value.key {
                Some(key) => drop(keys.insert(key)),
                None => keyless += 1,
            }
            Ok::<_, DatasetError>(())
        };
        self.hidden_reports(places.locator(), &mut note)?;
        self.reports(places.locator(), &mut note)?;
        collect(|each| self.moderation_log(each))?;
        let report_files = [FolderFile::Reports, FolderFile::HiddenReports, FolderFile::ErasedReports];
        if report_files.into_iter().any(|file| self.has_errors(file)) {
            return Ok(());
        }
        // Reports without a key get the keys that follow the highest one.
        let last = keys.iter().max().copied();
        let first = last.map_or(Some(ReportKey::FIRST), ReportKey::next);
        keys.extend(std::iter::successors(first, |key| key.next()).take(keyless));
        cards(self, &keys, &erased)?;
        partner_posts(self, &keys).map(drop)
    }

    fn has_errors(&self, file: FolderFile) -> bool {
        let path = self.path_of(file);
        let is_in = |fault: &DatasetError| matches!(fault, DatasetError::Row { path: of, .. } if *of == path);
        self.diagnostics.as_ref().is_some_and(|diagnostics| {
            diagnostics.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_in)
        })
    }

    /// Records the fault and returns `Ok` while the folder is checked and the limit is not reached. Otherwise returns the fault.
    pub(super) fn skip_fault(&self, fault: DatasetError) -> Result<(), DatasetError> {
        let Some(Diagnostics { most, errors }) = &self.diagnostics else { return Err(fault) };
        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() + 1 >= *most {
            return Err(fault);
        }
        errors.push(fault);
        Ok(())
    }
}
