//! README.md, CONTRIBUTING.md and the pages of `docs/` are true: their blocks run as they are printed, and their links lead somewhere.

#[path = "../common/demo.rs"]
mod demo;
#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/port.rs"]
mod port;
#[path = "../common/postgres.rs"]
mod postgres;
#[path = "../common/running.rs"]
mod running;
#[path = "../common/take_over.rs"]
mod take_over;
#[path = "../common/tools.rs"]
mod tools;

mod blocks;

mod data_blocks;
mod edge;
mod links;
mod live;
mod monitoring;
mod pages;
mod polling;
mod scripts;
mod server;
mod sh_blocks;
mod sql_blocks;
mod templates;
mod toml_blocks;
