//! Folders read and written row by row.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

#[path = "../common/folders.rs"]
mod created;
mod faults;
mod foreign;
mod lines;
mod notes;
mod reading;
mod round_trip;
mod samples;
mod streaming;
mod support;
mod writing;
