//! Data sets in and out of the database: each in one transaction, rows as they come.

mod export;
mod history;
mod import;
mod intake;
mod places;
mod relocation;
mod removal;

pub(super) use self::export::export;
pub(super) use self::import::import;
