//! Collects messages about ignored data and repairs, so that nothing is lost silently.

use std::collections::BTreeMap;

use super::FolderFile;
use super::validity::Fault;
use crate::model::Timestamp;

/// The maximum number of ignored columns that are counted.
const MAX_NOTED_COLUMNS: usize = 100;

#[derive(Debug, Default)]
pub(super) struct FileNotes {
    /// Ignored columns or properties, each with the number of rows that have a value for it.
    ignored: BTreeMap<String, u64>,
    repaired: u64,
    /// The first repaired fault and its place.
    first_repaired: Option<String>,
    without_city: u64,
    /// The number of features of infrastructure with an unusual shape for their kind.
    unusual_shapes: u64,
    pub(super) future: FutureRows,
}

/// The rows of a file that are dated in the future.
#[derive(Debug, Default)]
pub(super) struct FutureRows {
    /// Rows after this time are counted. If `None`, no rows are counted.
    now: Option<Timestamp>,
    rows: u64,
    /// The latest time, and the line of its row.
    latest: Option<(Timestamp, u64)>,
}

impl FutureRows {
    pub(super) fn new(now: Option<Timestamp>) -> Self {
        Self { now, ..Self::default() }
    }

    pub(super) fn count(&mut self, line: u64, time: Timestamp) {
        if self.now.is_some_and(|now| time > now) {
            self.rows += 1;
            self.latest = self.latest.max(Some((time, line)));
        }
    }

    /// Returns the message about these rows; `None` if there are none.
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
    /// Counts a row with a value in an ignored column; only the first `MAX_NOTED_COLUMNS` columns are counted.
    pub(super) fn count_ignored(&mut self, column: &str) {
        if let Some(rows) = self.ignored.get_mut(column) {
            *rows += 1;
        } else if self.ignored.len() < MAX_NOTED_COLUMNS {
            self.ignored.insert(column.to_owned(), 1);
        }
    }

    pub(super) fn count_repaired(&mut self, line: u64, number: u64, fault: &Fault) {
        self.repaired += 1;
        self.first_repaired.get_or_insert_with(|| format!("line {line}, feature {number} {fault}"));
    }

    pub(super) fn count_without_city(&mut self) {
        self.without_city += 1;
    }

    pub(super) fn count_unusual_shape(&mut self) {
        self.unusual_shapes += 1;
    }

    pub(super) fn lines(&self, file: FolderFile) -> impl Iterator<Item = String> {
        let repaired = self.first_repaired.iter().map(move |first| {
            let outlines = counted(self.repaired, "outline was", "outlines were");
            format!("{file}: {outlines} repaired, the first at {first}")
        });
        let unkept = self.ignored.iter().map(move |(column, rows)| {
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
