use std::collections::BTreeSet;

use crate::datasets::{Dataset, DatasetError, Folder, FolderFile, FolderRow};
use crate::model::{AreaId, Places, Timestamp};
use crate::stores::file::tables::Row;
use crate::stores::{Imported, OpenError, Replace};

/// The comparison of a folder with the stored data.
pub(super) struct Merge<'f> {
    pub(super) folder: &'f Folder,
    pub(super) now: Timestamp,
    /// The stored data; its places become those after the import.
    pub(super) stored: Dataset,
    /// The rows to be written.
    pub(super) rows: Vec<Row>,
    /// The areas to be removed with their logs.
    pub(super) removed: Vec<AreaId>,
    /// Whether stored infrastructure changes: then all of it is among the rows.
    pub(super) infrastructure_moved: bool,
    pub(super) changed: BTreeSet<Part>,
    pub(super) done: Imported,
}

/// What an import changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// What is on the map.
    Places,
    /// A city, which is among the places as well.
    Cities,
    Floods,
    Reports,
    Gauges,
    /// Cards or posts, which show in no resource.
    Others,
}

/// How a row compares with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    New,
    Different,
    Same,
}

impl Compared {
    /// Compares a value with the stored one.
    pub(super) fn of<T: PartialEq>(value: &T, stored: Option<&T>) -> Self {
        match stored {
            None => Self::New,
            Some(stored) if stored == value => Self::Same,
            Some(_) => Self::Different,
        }
    }
}

/// A function that takes the rows of a file.
type Sink<'s, T> = &'s mut dyn FnMut(FolderRow<T>) -> Result<(), DatasetError>;

impl<'f> Merge<'f> {
    pub(super) fn new(stored: Dataset, folder: &'f Folder, now: Timestamp) -> Self {
        Self {
            folder,
            now,
            stored,
            rows: Vec::new(),
            removed: Vec::new(),
            infrastructure_moved: false,
            changed: BTreeSet::new(),
            done: Imported::default(),
        }
    }

    /// Compares all files.
    ///
    /// # Errors
    ///
    /// The first wrong row, or what cannot be removed.
    pub(super) fn run(&mut self, replace: Replace) -> Result<(), OpenError> {
        self.places(replace)?;
        self.gauges()?;
        self.flood_states()?;
        self.erased_reports()?;
        self.hidden_reports()?;
        self.reports()?;
        self.cards()?;
        self.partner_posts()?;
        self.moderation_log()?;
        self.relocate();
        Ok(())
    }

    /// Reads all rows of a file, and counts them.
    pub(super) fn read<T>(
        &mut self,
        file: FolderFile,
        read: impl FnOnce(&Folder, &Places, Sink<'_, T>) -> Result<(), DatasetError>,
    ) -> Result<Vec<FolderRow<T>>, DatasetError> {
        let mut rows = Vec::new();
        read(self.folder, &self.stored.places, &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        if self.folder.has(file) {
            self.done.files.entry(file).or_default().read += rows.len() as u64;
        }
        Ok(rows)
    }

    /// Counts a row of a file, and returns whether it is to be written.
    pub(super) fn count(&mut self, file: FolderFile, compared: Compared) -> bool {
        let rows = self.done.files.entry(file).or_default();
        match compared {
            Compared::New => rows.added += 1,
            Compared::Different => rows.replaced += 1,
            Compared::Same => return false,
        }
        true
    }
}
