//! Notes about data that is not kept, and about repairs, so that nothing is lost silently.

use std::collections::BTreeMap;

use super::FolderFile;
use super::validity::Fault;
use crate::model::Timestamp;

/// How many columns of a file are noted.
const MOST: usize = 100;

/// The notes about a file that was read.
#[derive(Debug, Default)]
pub(super) struct FileNotes {
    /// The columns or properties that are not kept, and in how many rows they have a value.
    unkept: BTreeMap<String, u64>,
    /// How many features had their geometry repaired.
    repaired: u64,
    /// The fault of the first of them, and where it is.
    first: Option<String>,
    /// How many areas have no city.
    without_city: u64,
    /// How many pieces of infrastructure do not have the usual shape of their kind.
    unusual_shapes: u64,
    /// The rows that are dated in the future.
    pub(super) future: FutureRows,
}

/// The rows of a file that are dated in the future.
#[derive(Debug, Default)]
pub(super) struct FutureRows {
    /// `None` if they are not counted.
    now: Option<Timestamp>,
    rows: u64,
    /// The latest time, and the line of its row.
    latest: Option<(Timestamp, u64)>,
}

impl FutureRows {
    /// Counts the rows after `now`; none without it.
    pub(super) fn after(now: Option<Timestamp>) -> Self {
        Self { now, ..Self::default() }
    }

    /// Counts a row if its time is in the future.
    pub(super) fn count(&mut self, line: u64, time: Timestamp) {
        if self.now.is_some_and(|now| time > now) {
            self.rows += 1;
            self.latest = self.latest.max(Some((time, line)));
        }
    }

    fn note(&self, file: FolderFile) -> Option<String> {
        let (time, line) = self.latest?;
        let rows = counted(self.rows, "row is", "rows are");
        Some(format!(
            "{file}: {rows} dated in the future and shown only then, the latest on line {line}, {time}: is it local time \
             written as UTC?"
        ))
    }
}

impl FileNotes {
    /// Counts a row in which a column has a value that is not kept.
    pub(super) fn unkept(&mut self, column: &str) {
        if let Some(rows) = self.unkept.get_mut(column) {
            *rows += 1;
        } else if self.unkept.len() < MOST {
            self.unkept.insert(column.to_owned(), 1);
        }
    }

    /// Counts a feature whose geometry was repaired.
    pub(super) fn repaired(&mut self, line: u64, number: u64, fault: &Fault) {
        self.repaired += 1;
        self.first.get_or_insert_with(|| format!("line {line}, feature {number} {fault}"));
    }

    /// Counts an area that has no city.
    pub(super) fn without_city(&mut self) {
        self.without_city += 1;
    }

    /// Counts a piece of infrastructure that does not have the usual shape of its kind.
    pub(super) fn unusual_shape(&mut self) {
        self.unusual_shapes += 1;
    }

    /// Returns the notes, one on each line.
    pub(super) fn lines(&self, file: FolderFile) -> impl Iterator<Item = String> {
        let repaired = self.first.iter().map(move |first| {
            let outlines = counted(self.repaired, "outline was", "outlines were");
            format!("{file}: {outlines} repaired, the first at {first}")
        });
        let unkept = self.unkept.iter().map(move |(column, rows)| {
            let column = column.escape_debug();
            let rows = counted(*rows, "row", "rows");
            format!("{file}: {column} is not kept ({rows})")
        });
        let without_city = (self.without_city > 0).then(|| {
            let areas = counted(self.without_city, "area has", "areas have");
            format!(
                "{file}: {areas} no city, so requests with city= do not select it: add the property city, or the outlines of \
                 cities as {}",
                FolderFile::Cities
            )
        });
        let unusual = (self.unusual_shapes > 0).then(|| {
            let pieces = counted(self.unusual_shapes, "piece is", "pieces are");
            format!(
                "{file}: {pieces} a floodgate or a pump that is a line, or a waterway that is a point: for GIS programs only in the \
                 collection infrastructure"
            )
        });
        repaired.chain(unkept).chain(without_city).chain(unusual).chain(self.future.note(file))
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
