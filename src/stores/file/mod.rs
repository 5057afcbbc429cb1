//! The store in one file: the local store with a journal, which writes each change to a `SQLite` file before anybody sees it.
//!
//! At startup the whole file is read into memory, where all reads are made. So there are no queries in SQL, and a read costs
//! what it costs in memory. A server has the file for itself; commands such as `siaga import` may change it meanwhile, which
//! the server notices within a second.

mod backup;
mod contents;
mod copied_cards;
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

pub(crate) use self::copied_cards::copied_cards;
pub use self::open::OpenFile;
pub(crate) use self::settings::Settings;
