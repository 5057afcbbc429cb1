//! Background tasks that run beside the server until it shuts down.

mod data_watch;
mod old_reports;
mod source_watch;
mod stored_keys;

pub use self::data_watch::DataWatch;
pub use self::old_reports::OldReports;
pub use self::source_watch::SourceWatch;
pub use self::stored_keys::StoredKeys;
