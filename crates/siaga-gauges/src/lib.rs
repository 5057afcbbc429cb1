//! Reads gauges of foreign feeds and sends their readings to Siaga.
//!
//! | file | content |
//! |---|---|
//! | `config.rs`, `feed.rs`, `gauge.rs` | the configuration and its checks |
//! | `source.rs` | fetches documents from an address, a file or a folder |
//! | `formats/` | finds the readings in a document, one file for each kind of feed |
//! | `collector.rs` | converts levels; leaves out and counts wrong readings |
//! | `siaga.rs` | sends the readings of a gauge |
//! | `reader.rs`, `schedule.rs` | one round of a feed, and when the next one is due |
//!
//! Nothing here sleeps or reads the clock: the caller passes the time of each round.

#![warn(clippy::expect_used, clippy::unwrap_used)]

mod collector;
mod config;
mod feed;
mod formats;
mod gauge;
mod reader;
mod schedule;
mod siaga;
mod source;

pub use self::config::readers;
pub use self::reader::{FeedReader, Round};
