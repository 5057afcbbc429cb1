//! Imports a data set. The rules are here, once for all stores.
//!
//! An import decides for each row of a folder whether it is new, replaces a stored row, or is stored already. The store is
//! a [`Target`]: it only looks up rows by their keys, and writes rows.

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
use crate::stores::{Imported, OpenError, Replace};

pub(in crate::stores) use self::target::{
    Each, EntryId, GaugeReading, Keeps, KeepsHistory, KeepsPlaces, KeepsReports, KeepsSources, KnownReport,
    Lies, OtherArea, Record, Target,
};

/// Imports a folder.
///
/// # Errors
///
/// An error of the store, the first wrong row, or what cannot be removed.
pub(in crate::stores) fn import<T: Target>(
    target: &mut T,
    folder: &Folder,
    now: Timestamp,
    replace: Replace,
) -> Result<Imported, OpenError> {
    let mut import = Import { target, folder, now, places: Arc::default(), done: Imported::default() };
    let changes = import.places(replace)?;
    import.gauges()?;
    import.flood_states()?;
    // Last, because new reports may have to wait until the import ends.
    import.erased_reports()?;
    import.reports()?;
    import.cards()?;
    import.partner_posts()?;
    import.moderation_log()?;
    import.relocate(&changes)?;
    Ok(import.done)
}

/// An import under way.
struct Import<'i, T> {
    target: &'i mut T,
    folder: &'i Folder,
    now: Timestamp,
    /// The places after the import.
    places: Arc<Places>,
    done: Imported,
}

/// How a row compares with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    New,
    Different,
    Same,
}

/// Takes one from the stored things that are the same, and returns whether one was left.
fn take_one<K: Eq + Hash>(stored: &mut HashMap<K, usize>, same: &K) -> bool {
    let left = stored.get_mut(same).filter(|left| **left > 0);
    left.map(|left| *left -= 1).is_some()
}

/// A function that takes the rows of a file.
type Sink<'s, V> = &'s mut dyn FnMut(FolderRow<V>) -> Result<(), OpenError>;

impl<T: Target> Import<'_, T> {
    /// Reads the rows of a file, counts them, and passes them on, a batch at a time.
    fn fill<V>(
        &mut self,
        file: FolderFile,
        read: impl FnOnce(&Folder, Sink<'_, V>) -> Result<(), OpenError>,
        mut take: impl FnMut(&mut Self, Vec<FolderRow<V>>) -> Result<(), OpenError>,
    ) -> Result<(), OpenError> {
        if self.folder.has(file) {
            self.done.files.entry(file).or_default();
        }
        self.batches(read, |import, rows| {
            import.done.files.entry(file).or_default().read += rows.len() as u64;
            take(import, rows)
        })
    }

    /// Reads rows, and passes them on, a batch at a time.
    fn batches<V>(
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

    /// Counts a row of a file, and returns whether it is to be written.
    fn count(&mut self, file: FolderFile, compared: Compared) -> bool {
        let rows = self.done.files.entry(file).or_default();
        match compared {
            Compared::New => rows.added += 1,
            Compared::Different => rows.replaced += 1,
            Compared::Same => return false,
        }
        true
    }

    /// Counts a row of a file that stays as it is if it is stored, and returns whether it is to be written.
    fn is_new(&mut self, file: FolderFile, is_new: bool) -> bool {
        self.count(file, if is_new { Compared::New } else { Compared::Same })
    }

    /// Writes the rows that are not stored, or differ from the stored ones, and returns their keys. If several rows have the
    /// same key, the last one counts.
    fn replace<V: Record>(
        &mut self,
        file: FolderFile,
        rows: Vec<FolderRow<V>>,
    ) -> Result<Vec<V::Key>, OpenError>
    where
        T: Keeps<V>,
    {
        let by_key = rows.into_iter().map(|row| (row.value.key(), (row.value, Compared::New)));
        let mut rows: BTreeMap<V::Key, (V, Compared)> = by_key.collect();
        let keys: Vec<_> = rows.keys().cloned().collect();
        self.target.stored(file, &keys, &mut |stored: &V| {
            if let Some((row, compared)) = rows.get_mut(&stored.key()) {
                *compared = if row == stored { Compared::Same } else { Compared::Different };
            }
        })?;
        rows.retain(|_, (_, compared)| self.count(file, *compared));
        let (keys, rows): (Vec<_>, Vec<_>) = rows.into_iter().map(|(key, (row, _))| (key, row)).unzip();
        if !rows.is_empty() {
            self.target.put(file, rows)?;
        }
        Ok(keys)
    }
}
