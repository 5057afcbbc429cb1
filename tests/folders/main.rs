//! Folders read and written row by row.

mod contents;
mod lines;
mod notes;
mod outlines;
mod round_trip;
mod streaming;
mod support;
mod writing;
