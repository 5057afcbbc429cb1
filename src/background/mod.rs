//! Background tasks that run beside the server until it shuts down.

mod data_watch;
mod old_reports;
mod outlines;
mod source_watch;
mod stored_keys;

pub use self::data_watch::DataWatch;
pub use self::old_reports::OldReports;
pub(crate) use self::outlines::prepare_outlines;
pub use self::source_watch::SourceWatch;
pub use self::stored_keys::StoredKeys;
