#[cfg(test)]
mod tests;

use std::fmt;

const MAX_FAULTS: usize = 20;

/// Collects the faults in a country's folder: wrong, missing and unknown entries.
#[derive(Debug, Default)]
pub(super) struct CountryDiagnostics {
    /// At most [`MAX_FAULTS`] entries: file in the folder, line from 1 (`None` if the reason states the place), and reason.
    faults: Vec<(String, Option<u64>, String)>,
    count: usize,
}

impl CountryDiagnostics {
    pub(super) fn note(&mut self, file: &str, line: Option<u64>, reason: impl fmt::Display) {
        self.count += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push((file.to_owned(), line, reason.to_string()));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn into_sorted(mut self) -> Vec<String> {
        self.faults.sort();
        let texts = self.faults.into_iter().map(|(file, line, reason)| match line {
            Some(line) => format!("{file}, line {line}: {reason}"),
            None => format!("{file}: {reason}"),
        });
        texts.collect()
    }
}
