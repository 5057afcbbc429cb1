//! Tests that take minutes or need third-party programs: crashes, failover, long outages, soak, peak memory, the package,
//! failing writes, proxies, clients and readers. Run by `tests/all slow`; `cargo test` builds it only by its name.

#[path = "../common/mod.rs"]
mod common;

use common::{
    cluster, demo, dice, eventually, fixture, large_map, outcome, photos, port, postgres, programs, proxy,
    running, server, service_config, store_file, tools,
};

mod crashes;
mod edge;
mod erasure;
#[cfg(target_os = "linux")]
mod failing_writes;
mod failover;
mod file_log;
mod history;
mod image_crashes;
mod interface;
mod links;
#[cfg(target_os = "linux")]
mod memory;
mod nginx;
mod package;
mod push;
mod readers;
#[cfg(target_os = "linux")]
mod soak;
mod streams;
mod webhooks;
