//! The store in one file: the local store with a journal, which writes each change to a `SQLite` file before the change is
//! visible.
//!
//! At startup the server reads the file into memory, except gauge readings older than a day. Reads of other data run no SQL query, and
//! costs as much as with the memory store. Only one server can use a file. Commands such as `siaga import` may change the file
//! while the server runs; the server notices the changes within a second.

mod backup;
mod cards_in_backup;
mod contents;
mod database;
mod error;
mod file_system;
mod import;
mod older_readings;
mod open;
mod schema;
mod server_lock;
mod settings;
mod status;
mod tables;
mod writer;

pub(crate) use self::cards_in_backup::cards_in_backup;
pub use self::open::OpenFile;
pub(crate) use self::settings::Settings;
