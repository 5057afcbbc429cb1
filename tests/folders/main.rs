//! Folders read and written row by row.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

mod contents;
mod foreign;
mod lines;
mod notes;
mod outlines;
mod round_trip;
mod streaming;
mod support;
mod writing;
