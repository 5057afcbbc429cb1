//! README.md, CONTRIBUTING.md and the pages of `docs/` are true: their blocks run as they are printed, and their links lead somewhere.

#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/postgres.rs"]
mod postgres;
#[path = "../operation/running.rs"]
mod running;
#[path = "../common/take_over.rs"]
mod take_over;

mod blocks;
mod demo;
mod tools;

mod data_blocks;
mod edge;
mod generated_clients;
mod globes;
mod links;
mod live;
mod map_libraries;
mod monitoring;
mod nginx;
mod openapi;
mod pages;
mod polling;
mod readers;
mod scripts;
mod server;
mod sh_blocks;
mod sql_blocks;
mod templates;
mod toml_blocks;
