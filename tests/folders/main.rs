//! Folders read and written row by row.

mod contents;
mod lines;
mod round_trip;
mod streaming;
mod support;
mod writing;
