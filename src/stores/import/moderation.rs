use std::collections::HashSet;

use super::{EntryId, Import, Target};
use crate::data::folder::{FolderFile, FolderRow};
use crate::model::{ErasedReport, ModerationEntry};
use crate::stores::OpenError;

impl<T: Target> Import<'_, T> {
    /// Imports the records of erased reports, so that no import restores them. Skips records whose key is already stored.
    pub(super) fn erased_reports(&mut self) -> Result<(), OpenError> {
        self.import_file(
            FolderFile::ErasedReports,
            |folder, each| folder.erased_reports(each),
            |import, rows: Vec<FolderRow<ErasedReport>>| {
                import.target.lock_reports()?;
                let keys: Vec<_> = rows.iter().map(|row| row.value.key).collect();
                let reports = import.target.find_reports(&keys)?;
                let stored_keys: HashSet<_> = reports.into_iter().map(|report| report.key).collect();
                let rows = rows.into_iter().map(|row| row.value);
                let new: Vec<_> = rows
                    .filter(|row| import.is_new(FolderFile::ErasedReports, !stored_keys.contains(&row.key)))
                    .collect();
                if new.is_empty() { Ok(()) } else { import.target.add_erased(new) }
            },
        )
    }

    pub(super) fn moderation_log(&mut self) -> Result<(), OpenError> {
        let id = |entry: &ModerationEntry| -> EntryId { (entry.at, entry.report, entry.action.name()) };
        self.import_file(
            FolderFile::ModerationLog,
            |folder, each| folder.moderation_log(each),
            |import, rows: Vec<FolderRow<ModerationEntry>>| {
                let ids: Vec<_> = rows.iter().map(|row| id(&row.value)).collect();
                let mut stored_ids = import.target.find_entries(&ids)?;
                let rows = rows.into_iter().map(|row| row.value);
                let new: Vec<_> = rows
                    .filter(|entry| import.is_new(FolderFile::ModerationLog, stored_ids.insert(id(entry))))
                    .collect();
                if new.is_empty() { Ok(()) } else { import.target.add_entries(new) }
            },
        )
    }
}
