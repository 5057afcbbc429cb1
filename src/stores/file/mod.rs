//! The store in one file: the local store with a journal that writes each change to a `SQLite` file before it becomes visible.
//!
//! At startup the whole file is read into memory, which serves all reads. So there are no SQL queries, and a read costs as much
//! as in memory. Only one server can use a file; commands such as `siaga import` may change it meanwhile, which the server
//! notices within a second.

mod backup;
mod cards_in_backup;
mod contents;
mod database;
mod error;
mod file_system;
mod import;
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
