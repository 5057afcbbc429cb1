//! What takes minutes, or programs of others: crashes, failover and long outages, the soak test, memory at its peak, the package,
//! proxies, and clients and readers that others wrote. `tests/all slow` runs it; `cargo test` builds it only by its name.

#[path = "../common/cluster.rs"]
mod cluster;
#[path = "../common/demo.rs"]
mod demo;
#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/kept.rs"]
mod kept;
#[path = "../common/large_map.rs"]
mod large_map;
#[path = "../common/outcome.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod outcome;
#[path = "../common/photos.rs"]
mod photos;
#[path = "../common/port.rs"]
mod port;
#[path = "../common/postgres.rs"]
mod postgres;
#[path = "../common/proxy.rs"]
mod proxy;
#[path = "../common/running.rs"]
mod running;
#[path = "../common/server.rs"]
mod server;
#[path = "../common/file.rs"]
mod store_file;
#[path = "../common/take_over.rs"]
mod take_over;
#[path = "../common/tools.rs"]
mod tools;

mod machine;

mod calls;
mod crashes;
mod edge;
mod erasure;
mod failover;
mod file_log;
mod generated_clients;
mod globes;
mod image_crashes;
mod links;
mod map_libraries;
#[cfg(target_os = "linux")]
mod memory;
mod nginx;
mod openapi;
mod orders;
mod package;
mod readers;
#[cfg(target_os = "linux")]
mod soak;
mod streams;
