#[cfg(test)]
mod tests;

use std::fmt;

/// The most faults that are noted.
const MOST: usize = 20;

/// The wrong, missing and unknown entries of a country's folder that were found so far, at most [`MOST`]: the file below the folder,
/// the line from 1 if the reason does not say where it is, and the reason.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(String, Option<u64>, String)>);

impl Faults {
    pub(super) fn note(&mut self, file: &str, line: Option<u64>, reason: impl fmt::Display) {
        if self.0.len() < MOST {
            self.0.push((file.to_owned(), line, reason.to_string()));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the faults by file and line.
    pub(super) fn into_sorted(mut self) -> Vec<String> {
        self.0.sort();
        let texts = self.0.into_iter().map(|(file, line, reason)| match line {
            Some(line) => format!("{file}, line {line}: {reason}"),
            None => format!("{file}: {reason}"),
        });
        texts.collect()
    }
}
