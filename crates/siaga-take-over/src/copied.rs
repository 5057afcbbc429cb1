use std::collections::BTreeMap;
use std::fmt;

use siaga::folder::FolderFile;

use super::copy::FILES;

/// The maximum number of different reasons listed for a table and an event.
const MOST: usize = 20;

/// The result of a copy. Displayed with a line for each count.
#[derive(Debug)]
pub(crate) struct Copied {
    files: BTreeMap<FolderFile, u64>,
    missing: Vec<&'static str>,
    notes: Vec<Note>,
}

/// What happened to some rows of a table, and their number.
#[derive(Debug)]
struct Note {
    table: &'static str,
    what: What,
    reason: String,
    rows: u64,
    /// The name of the first of these rows.
    first: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The row was left out.
    Row,
    /// The value of this column was left out.
    Value(&'static str),
    /// The geometry was repaired.
    Repaired,
    /// The row became an entry of the log of flood states.
    Logged,
}

impl Default for Copied {
    fn default() -> Self {
        Self { files: FILES.map(|file| (file, 0)).into(), missing: Vec::new(), notes: Vec::new() }
    }
}

impl Copied {
    pub(super) fn count_row(&mut self, file: FolderFile) {
        *self.files.entry(file).or_default() += 1;
    }

    /// Records a missing table, once.
    pub(super) fn missing(&mut self, table: &'static str) {
        if !self.missing.contains(&table) {
            self.missing.push(table);
        }
    }

    /// Counts what happened to a row. `row` is the name of the row in messages.
    pub(super) fn note(&mut self, table: &'static str, what: What, reason: String, row: &str) {
        let mut of_table = 0;
        for note in self.notes.iter_mut().filter(|note| note.table == table && note.what == what) {
            of_table += 1;
            if note.reason == reason || of_table == MOST {
                note.rows += 1;
                return;
            }
        }
        let reason = if of_table + 1 == MOST { "other reasons".to_owned() } else { reason };
        self.notes.push(Note { table, what, reason, rows: 1, first: row.to_owned() });
    }
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, rows) in &self.files {
            writeln!(f, "{file}: {}", counted(*rows))?;
        }
        for table in &self.missing {
            writeln!(f, "not in the database: {table}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, what, reason, rows, first } = self;
        let rows = counted(*rows);
        match what {
            What::Row => write!(f, "left out of {table}: {rows}, {reason} (first: {first})"),
            What::Value(column) => {
                write!(f, "left out of {table}: {column} of {rows}, {reason} (first: {first})")
            }
            What::Repaired => {
                write!(f, "repaired in {table}: the outline of {rows}, {reason} (first: {first})")
            }
            What::Logged => write!(f, "added to the log of {table}: {rows}, {reason} (first: {first})"),
        }
    }
}

fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_reasons_makes_a_bounded_number_of_lines() {
        let mut copied = Copied::default();
        for number in 0..100 {
            copied.note("t", What::Row, format!("reason {number}"), "pkey 1");
        }
        assert_eq!(copied.notes.len(), MOST);
        assert_eq!(copied.notes.iter().map(|note| note.rows).sum::<u64>(), 100);
        assert_eq!(copied.notes[MOST - 1].reason, "other reasons");
    }
}
