#[cfg(test)]
mod tests;

use std::fmt;

/// The most faults that are noted.
const MOST: usize = 20;

/// A wrong, missing or unknown entry of a country's folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CountryFault {
    /// The file below the folder.
    file: String,
    /// The line, from 1.
    line: u64,
    reason: String,
}

impl fmt::Display for CountryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file, self.line, self.reason)
    }
}

/// The faults that were found so far, at most [`MOST`].
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<CountryFault>);

impl Faults {
    pub(super) fn note(&mut self, file: &str, line: u64, reason: impl fmt::Display) {
        if self.0.len() < MOST {
            self.0.push(CountryFault { file: file.to_owned(), line, reason: reason.to_string() });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the faults by file and line.
    pub(super) fn into_sorted(mut self) -> Vec<CountryFault> {
        self.0.sort();
        self.0
    }
}
