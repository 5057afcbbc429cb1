#[cfg(test)]
mod tests;

use std::fmt;

/// The most faults that are noted.
const MOST: usize = 20;

/// The wrong, missing and unknown entries of a country's folder that were found so far.
#[derive(Debug, Default)]
pub(super) struct CountryDiagnostics {
    /// At most [`MOST`]: the file below the folder, the line from 1 if the reason does not say where it is, and the reason.
    noted: Vec<(String, Option<u64>, String)>,
    count: usize,
}

impl CountryDiagnostics {
    pub(super) fn note(&mut self, file: &str, line: Option<u64>, reason: impl fmt::Display) {
        self.count += 1;
        if self.noted.len() < MOST {
            self.noted.push((file.to_owned(), line, reason.to_string()));
        }
    }

    /// Returns how many faults were found, also those that are not noted.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the faults by file and line.
    pub(super) fn into_sorted(mut self) -> Vec<String> {
        self.noted.sort();
        let texts = self.noted.into_iter().map(|(file, line, reason)| match line {
            Some(line) => format!("{file}, line {line}: {reason}"),
            None => format!("{file}: {reason}"),
        });
        texts.collect()
    }
}
