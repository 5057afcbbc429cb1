//! What a folder holds and is not kept, and what was repaired, so that nothing is lost in silence.

use std::collections::BTreeMap;

use super::FolderFile;
use super::validity::Fault;

/// How many columns of a file are told apart.
const MOST: usize = 100;

/// What is to be said of a file that was read.
#[derive(Debug, Default)]
pub(super) struct FileNotes {
    /// The columns or properties that are not kept, and in how many rows they hold something.
    unkept: BTreeMap<String, u64>,
    /// How many outlines were repaired.
    repaired: u64,
    /// What was wrong with the first of them, and where.
    first: Option<String>,
}

impl FileNotes {
    /// Counts a row in which a column holds something that is not kept.
    pub(super) fn unkept(&mut self, column: &str) {
        if let Some(rows) = self.unkept.get_mut(column) {
            *rows += 1;
        } else if self.unkept.len() < MOST {
            self.unkept.insert(column.to_owned(), 1);
        }
    }

    /// Counts a feature whose outline was repaired.
    pub(super) fn repaired(&mut self, line: u64, number: u64, fault: &Fault) {
        self.repaired += 1;
        self.first.get_or_insert_with(|| format!("line {line}, feature {number} {fault}"));
    }

    /// Returns a line for each thing to say.
    pub(super) fn lines(&self, file: FolderFile) -> impl Iterator<Item = String> {
        let repaired = self.first.iter().map(move |first| {
            let outlines = if self.repaired == 1 {
                "1 outline was"
            } else {
                &format!("{} outlines were", self.repaired)
            };
            format!("{file}: {outlines} repaired, the first at {first}")
        });
        let unkept = self.unkept.iter().map(move |(column, rows)| {
            let column = column.escape_debug();
            let rows = if *rows == 1 { "1 row" } else { &format!("{rows} rows") };
            format!("{file}: {column} is not kept ({rows})")
        });
        repaired.chain(unkept)
    }
}
