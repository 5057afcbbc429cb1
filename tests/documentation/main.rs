//! README.md, CONTRIBUTING.md and `docs/`: code blocks run as printed, and links resolve.

#[path = "../common/mod.rs"]
mod common;

use common::{demo, eventually, extract, fixture, port, postgres, programs, running, store_file, tools};

mod blocks;

mod data_blocks;
mod docker;
mod edge;
mod links;
mod live;
mod monitoring;
mod pages;
mod polling;
mod scripts;
mod server;
mod sh_blocks;
mod templates;
