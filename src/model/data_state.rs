use super::{SourceStatus, Timestamp};

/// How current data is, by the sources that cover it. The default is that no source does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DataState {
    /// The worst status of the sources; `None` if there are none.
    pub(crate) status: Option<SourceStatus>,
    /// The time up to which all sources were heard; `None` if there are none, or if one was never heard.
    pub(crate) as_of: Option<Timestamp>,
}

impl DataState {
    /// The word for data that no source covers.
    const UNKNOWN: &str = "unknown";

    /// Returns the words for all states.
    #[must_use]
    pub(crate) fn names() -> [&'static str; 4] {
        let [ok, late, silent] = SourceStatus::ALL.map(SourceStatus::name);
        [ok, late, silent, Self::UNKNOWN]
    }

    /// Returns the word for the worst status; `unknown` if no source covers the data.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        self.status.map_or(Self::UNKNOWN, SourceStatus::name)
    }

    /// Adds a source.
    pub(crate) fn add(&mut self, heard: Option<Timestamp>, status: SourceStatus) {
        self.as_of = if self.status.is_none() { heard } else { self.as_of.min(heard) };
        self.status = self.status.max(Some(status));
    }
}
