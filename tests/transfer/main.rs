//! Import and export: exports equal imports, and a failed import changes nothing.

#[path = "../common/folders.rs"]
mod created;
#[path = "../common/postgres.rs"]
mod database;
#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/outcome.rs"]
mod outcome;

#[path = "../common/file.rs"]
mod store_file;

mod folders;
mod operations;
mod operator;

mod cities;
mod faults;
mod history;
mod live;
mod moderation;
mod program;
mod replacing;
mod reports;
mod series;
