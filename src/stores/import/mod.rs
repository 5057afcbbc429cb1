//! Imports a data set into any store. This module decides for each row of a folder whether the row is new, replaces a stored row,
//! or is stored already. The store is a [`Target`], which only finds rows by their keys, and writes rows.

mod history;
mod infrastructure;
mod moderation;
mod places;
mod reports;
mod target;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::mem;
use std::sync::Arc;

use crate::data::folder::{Folder, FolderFile, FolderRow};
use crate::model::{Places, Timestamp};
use crate::stores::{ImportSummary, OpenError, Replace};

pub(in crate::stores) use self::target::{
    EntryId, ExtraArea, GaugeReading, HistoryTarget, PlaceTarget, Record, RecordStore, ReportIdentity,
    ReportLocation, ReportTarget, RowVisitor, SourceTarget, Target,
};

pub(in crate::stores) fn import<T: Target>(
    target: &mut T,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<ImportSummary, OpenError> {
    let mut import =
        Import { target, folder, now, places: Arc::default(), summary: ImportSummary::default() };
    let changes = import.places(replace)?;
    import.gauges()?;
    import.flood_states()?;
    // Reports come last: once the import has locked them, other sessions cannot add reports until the import ends.
    import.erased_reports()?;
    import.reports()?;
    import.cards()?;
    import.partner_posts()?;
    import.moderation_log()?;
    import.relocate(&changes)?;
    Ok(import.summary)
}

struct Import<'i, T> {
    target: &'i mut T,
    folder: &'i Folder,
    now: Timestamp,
    /// The places after the import.
    places: Arc<Places>,
    summary: ImportSummary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowStatus {
    New,
    Changed,
    Unchanged,
}

/// Takes one item with this key. `stored` has the number of items for each key. Returns `false` if no item is left.
fn take_match<K: Eq + Hash>(stored: &mut HashMap<K, usize>, key: &K) -> bool {
    let count = stored.get_mut(key).filter(|count| **count > 0);
    count.map(|count| *count -= 1).is_some()
}

type Sink<'s, V> = &'s mut dyn FnMut(FolderRow<V>) -> Result<(), OpenError>;

impl<T: Target> Import<'_, T> {
    /// Imports the rows of a file in batches, and adds their number to the summary.
    fn import_file<V>(
        &mut self,
        file: FolderFile,
        read: impl FnOnce(&Folder, Sink<'_, V>) -> Result<(), OpenError>,
        mut take: impl FnMut(&mut Self, Vec<FolderRow<V>>) -> Result<(), OpenError>,
    ) -> Result<(), OpenError> {
        if self.folder.has(file) {
            self.summary.files.entry(file).or_default();
        }
        self.read_batches(read, |import, rows| {
            import.summary.files.entry(file).or_default().read += rows.len() as u64;
            take(import, rows)
        })
    }

    /// Reads the rows of a file, and calls `take` with one batch after the other.
    fn read_batches<V>(
        &mut self,
        read: impl FnOnce(&Folder, Sink<'_, V>) -> Result<(), OpenError>,
        mut take: impl FnMut(&mut Self, Vec<FolderRow<V>>) -> Result<(), OpenError>,
    ) -> Result<(), OpenError> {
        let mut rows = Vec::new();
        read(self.folder, &mut |row| {
            rows.push(row);
            if rows.len() < T::BATCH { Ok(()) } else { take(self, mem::take(&mut rows)) }
        })?;
        if rows.is_empty() { Ok(()) } else { take(self, rows) }
    }

    /// Counts a row by its status, and returns whether to write the row.
    fn count(&mut self, file: FolderFile, status: RowStatus) -> bool {
        let rows = self.summary.files.entry(file).or_default();
        match status {
            RowStatus::New => rows.added += 1,
            RowStatus::Changed => rows.replaced += 1,
            RowStatus::Unchanged => return false,
        }
        true
    }

    /// Counts a row of a kind that an import never replaces, and returns whether to write the row.
    fn is_new(&mut self, file: FolderFile, is_new: bool) -> bool {
        self.count(file, if is_new { RowStatus::New } else { RowStatus::Unchanged })
    }

    /// Writes the new and the changed rows, and returns their keys. If several rows have the same key, only the last one counts.
    fn replace<V: Record>(
        &mut self,
        file: FolderFile,
        rows: Vec<FolderRow<V>>,
    ) -> Result<Vec<V::Key>, OpenError>
    where
        T: RecordStore<V>,
    {
        let by_key = rows.into_iter().map(|row| (row.value.key(), (row.value, RowStatus::New)));
        let mut rows: BTreeMap<V::Key, (V, RowStatus)> = by_key.collect();
        let keys: Vec<_> = rows.keys().cloned().collect();
        self.target.find(file, &keys, &mut |stored: &V| {
            if let Some((row, status)) = rows.get_mut(&stored.key()) {
                *status = if row == stored { RowStatus::Unchanged } else { RowStatus::Changed };
            }
        })?;
        rows.retain(|_, (_, status)| self.count(file, *status));
        let (keys, rows): (Vec<_>, Vec<_>) = rows.into_iter().map(|(key, (row, _))| (key, row)).unzip();
        if !rows.is_empty() {
            self.target.put(file, rows)?;
        }
        Ok(keys)
    }
}
