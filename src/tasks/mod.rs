//! Background tasks that run until the server shuts down.

mod data_watch;
mod outlines;
mod report_retention;
mod source_watch;
mod stored_keys;

pub(crate) use self::data_watch::DataWatch;
pub(crate) use self::outlines::prepare_outlines;
pub(crate) use self::report_retention::ReportRetention;
pub(crate) use self::source_watch::SourceWatch;
pub(crate) use self::stored_keys::StoredKeys;
