//! The service in operation: as a process, and when its database is lost, late or changed by others.

#[path = "../common/cluster.rs"]
mod cluster;
#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/form.rs"]
mod form;
#[path = "../common/kept.rs"]
mod kept;
#[path = "../common/large_map.rs"]
mod large_map;
#[path = "../common/outcome.rs"]
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

mod backup_photos;
mod bad_rows;
mod black_box;
mod connections;
mod contention;
mod cut_reports;
mod database_metrics;
mod fairings;
mod file_commands;
mod file_faults;
mod file_lost;
mod file_restore;
mod flood_times;
mod forbidden;
mod health;
mod https;
mod images;
mod keys;
mod life;
mod limits;
mod listening;
mod logs;
mod panics;
mod parts;
mod places;
mod reloading;
mod signing_keys;
mod slow_uploads;
mod starts;
mod strangers;
