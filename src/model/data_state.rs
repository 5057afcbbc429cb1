use super::{SourceStatus, Timestamp};

/// How current data is, derived from the status of its sources. The default describes data without a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DataState {
    pub(crate) status: Option<SourceStatus>,
    /// The time up to which all sources have reported; `None` without sources, or if one has never reported.
    pub(crate) as_of: Option<Timestamp>,
}

impl DataState {
    const UNKNOWN: &str = "unknown";

    #[must_use]
    pub(crate) fn names() -> [&'static str; 4] {
        let [ok, late, silent] = SourceStatus::ALL.map(SourceStatus::name);
        [ok, late, silent, Self::UNKNOWN]
    }

    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        self.status.map_or(Self::UNKNOWN, SourceStatus::name)
    }

    pub(crate) fn add(&mut self, heard: Option<Timestamp>, status: SourceStatus) {
        self.as_of = if self.status.is_none() { heard } else { self.as_of.min(heard) };
        self.status = self.status.max(Some(status));
    }
}
