use std::fmt;

use super::document::Element;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The document violates a standard, or makes a known reader drop the alert or the whole feed.
    Error,
    /// The alert can be read, but could be better.
    Recommendation,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Recommendation => "recommendation",
        })
    }
}

/// One problem of a document. Displayed in one line; texts from the document are quoted, escaped and shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub level: Level,
    /// The line of the document, from 1.
    pub line: usize,
    /// The part of the document, such as `entry 3, alert "a-1", info 2 ("en-US")`.
    pub place: String,
    /// The problem.
    pub found: String,
    /// What to do, and which standard or reader requires it.
    pub advice: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, line, place, found, advice } = self;
        write!(f, "{level}: line {line}: {place}: {found}; {advice}")
    }
}

/// The result of a check. Displayed as one line for each finding, and a last line with the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of checked alerts, including entries that only link to their alert.
    pub alerts: usize,
    /// The findings, ordered by line.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Returns the number of errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Error).count()
    }

    /// Returns the number of recommendations.
    #[must_use]
    pub fn recommendations(&self) -> usize {
        self.findings.len() - self.errors()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let (errors, recommendations) = (self.errors(), self.recommendations());
        write!(f, "{} alerts checked: {errors} errors, {recommendations} recommendations", self.alerts)
    }
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) findings: Vec<Finding>,
    /// The place of the findings that are added next.
    pub(super) place: String,
}

impl Notes {
    pub(super) fn error(&mut self, line: usize, found: impl Into<String>, advice: &'static str) {
        self.note(Level::Error, line, found.into(), advice);
    }

    pub(super) fn recommend(&mut self, line: usize, found: impl Into<String>, advice: &'static str) {
        self.note(Level::Recommendation, line, found.into(), advice);
    }

    fn note(&mut self, level: Level, line: usize, found: String, advice: &'static str) {
        self.findings.push(Finding { level, line, place: self.place.clone(), found, advice });
    }
}

/// Quotes a text of the document on one line, truncated to 60 characters.
pub(super) fn quote(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Returns what was found instead of exactly one element with content: `no`, `an empty` or a number.
pub(super) fn unexpected_count(elements: &[&Element], is_empty: impl Fn(&Element) -> bool) -> Option<String> {
    match elements {
        [] => Some("no".to_owned()),
        [element] if is_empty(element) => Some("an empty".to_owned()),
        [_] => None,
        several => Some(several.len().to_string()),
    }
}
